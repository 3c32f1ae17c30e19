{{- /* Which records are on the page is found by their ids alone: a hash table of 10 M ids and
signatures would take seconds, and more memory than a query may. */ -}}
SELECT toInt8(any(book)) AS book_number, any(signature) AS digits, id, count() AS read
{{template "rows" .}}
    AND id IN
    (
SELECT id
{{template "occurrences" .}}
GROUP BY id
{{- template "sums" .}}
ORDER BY {{.Order}}
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
    )
GROUP BY id
ORDER BY {{.Order}}
