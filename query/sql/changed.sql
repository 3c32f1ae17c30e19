{{- /* The total and the newest of the records that changed, in one scan like
one_scan.sql. A row is (negated version, signature, book, sign). The rows of one
state stand side by side, the row that cancels the state (sign -1) first. */ -}}
WITH
    groupArraySorted({window:UInt64})((bitNot(version), signature, toInt8(book), sign)) AS rows,
    arrayMap(row -> (row.1, row.2, row.3), rows) AS states,
    arrayFilter(
        (row, state, previous) -> row.4 = 1 AND state != previous,
        rows, states, arrayShiftRight(states, 1)
    ) AS live,
    arraySlice(live, 1, {limit:UInt64}) AS newest
SELECT
    sum(sign) AS total,
    arrayMap(row -> row.3, newest) AS books,
    arrayMap(row -> row.2, newest) AS signatures,
    arrayMap(row -> bitNot(row.1), newest) AS versions
FROM records
WHERE book > 'checkpoint'
    AND last_seen >= fromUnixTimestamp64Milli({seen_from:Int64}, 'UTC') AND last_seen < fromUnixTimestamp64Milli({seen_to:Int64}, 'UTC')
    AND version >= {from:UInt64} AND version < {to:UInt64}
{{- range .Filters}}
    AND {{.}}
{{- end}}
