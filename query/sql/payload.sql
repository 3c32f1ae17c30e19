SELECT id, payload
FROM contexts
WHERE book = {book:String}
    AND signature = toFixedString(unhex({signature:String}), 16)
{{- if .ByID}}
    AND id = {id:UInt64}
{{- end}}
{{- /* An emptied context (gone = 1) stands beside the full one until a merge. */}}
ORDER BY id DESC, gone DESC
LIMIT 1
