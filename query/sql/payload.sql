SELECT id, payload
FROM contexts
WHERE book = {book:String}
    AND signature = toFixedString(unhex({signature:String}), 16)
{{- if .ByID}}
    AND id = {id:UInt64}
{{- end}}
{{- /* A context that was emptied stands beside what it was until they are merged. */}}
ORDER BY id DESC, gone DESC
LIMIT 1
