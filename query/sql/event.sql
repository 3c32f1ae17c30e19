{{- /* The id alone is looked for where its index says that it may be; it is the first
condition. */ -}}
SELECT toInt8(book) AS book_number, signature, id, position
FROM occurrences
PREWHERE {{index .Filters 0}}
WHERE book > 'checkpoint'
{{- range slice .Filters 1}}
    AND {{.}}
{{- end}}
ORDER BY position DESC
LIMIT {limit:UInt64}
