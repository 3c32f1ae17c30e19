SELECT toInt8(any(book)) AS book_number, any(signature) AS digits, id, count() AS read
{{template "occurrences" .}}
GROUP BY id
{{- template "sums" .}}
ORDER BY {{.Order}}
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
