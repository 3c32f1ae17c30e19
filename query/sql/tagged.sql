{{- /* The page with its numbers, and in each row how many records match. */ -}}
SELECT toInt8(any(book)) AS book_number, any(signature) AS digits, id, {{.From.Count}} AS seen, {{.From.First}} AS first, {{.From.Last}} AS last, count() OVER () AS total
{{template "occurrences" .}}
GROUP BY id
{{- template "sums" .}}
ORDER BY {{.Order}}
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
