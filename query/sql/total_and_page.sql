{{- /* Total and page in one scan, for filters that have to read the texts. Memory
is bounded by the window, which is small. groupArraySorted sorts upwards only:
what is to be sorted downwards comes negated. A row is
(sort key, id, version, sign, book, signature, part, offset); for the rest see
page.sql. */ -}}
WITH
    groupArraySorted({window:UInt64})(({{.Keys}}, bitNot(version), sign, toInt8(book), signature, toString(_part), _part_offset)) AS rows,
    arrayMap(row -> (row.2, row.3), rows) AS states,
    arrayFilter(
        (row, state, previous) -> row.4 = 1 AND state != previous,
        rows, states, arrayShiftRight(states, 1)
    ) AS live,
    arraySlice(live, {offset:UInt64} + 1, {limit:UInt64}) AS page
SELECT
    sum(sign) AS total,
    count() AS raw,
    arrayMap(row -> row.5, page) AS books,
    arrayMap(row -> row.6, page) AS signatures,
    arrayMap(row -> bitNot(row.3), page) AS versions,
    arrayMap(row -> row.7, page) AS parts,
    arrayMap(row -> row.8, page) AS offsets
FROM records
WHERE book > 'checkpoint'
{{- range .Filters}}
    AND {{.}}
{{- end}}
