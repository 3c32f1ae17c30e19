SELECT id, payload
FROM contexts
WHERE book = {book:String}
    AND signature = toFixedString(unhex({signature:String}), 16)
{{- if .ByID}}
    AND id = {id:UInt64}
{{- end}}
ORDER BY id DESC
LIMIT 1
