{{- /* Total and page in one scan, for filters that have to read the texts. Memory
is bounded by the window, which is small. groupArraySorted sorts upwards only:
what is to be sorted downwards comes negated. */ -}}
WITH
    groupArraySorted({window:UInt64})(({{.Keys}}, bitNot(version), sign, signature)) AS rows,
    arrayFilter(
        (row, previous) -> row.4 = 1 AND row.3 != previous,
        rows,
        arrayShiftRight(arrayMap(row -> row.3, rows), 1)
    ) AS live,
    arraySlice(live, {offset:UInt64} + 1, {limit:UInt64}) AS page
SELECT
    sum(sign) AS total,
    count() AS raw,
    arrayMap(row -> row.5, page) AS signatures,
    arrayMap(row -> bitNot(row.3), page) AS versions
FROM records
WHERE book != 'checkpoint'
{{- range .Filters}}
    AND {{.}}
{{- end}}
