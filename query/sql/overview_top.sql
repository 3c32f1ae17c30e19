{{- /* The table is sorted by the columns of GROUP BY, so the inner query reads it
record by record and holds one record at a time. groupArraySorted sorts upwards
only, so the sort key is negated: the largest comes first. A row is (sort key, id,
book, signature, events, events of the second half). */ -}}
WITH
    groupArraySorted({limit:UInt64})((-toInt64(events), id, toInt8(book), signature, events, latest)) AS noisy,
    groupArraySortedIf({limit:UInt64})((toInt64(events) - 2 * toInt64(latest), id, toInt8(book), signature, events, latest), 2 * latest > events) AS growing
SELECT
    arrayMap(row -> row.2, noisy), arrayMap(row -> row.3, noisy), arrayMap(row -> row.4, noisy), arrayMap(row -> row.5, noisy), arrayMap(row -> row.6, noisy),
    arrayMap(row -> row.2, growing), arrayMap(row -> row.3, growing), arrayMap(row -> row.4, growing), arrayMap(row -> row.5, growing), arrayMap(row -> row.6, growing)
FROM
(
    SELECT book, signature, id, sum(count) AS events, sumIf(count, hour >= fromUnixTimestamp({half:Int64})) AS latest
    FROM hourly
    WHERE book > 'checkpoint'
        AND hour >= fromUnixTimestamp({from:Int64}) AND hour < fromUnixTimestamp({to:Int64})
{{- range .Filters}}
        AND {{.}}
{{- end}}
    GROUP BY book, signature, id
)
