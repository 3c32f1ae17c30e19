{{- /* Total and page in one statement, for filters that have to read long columns.
The inner query reads the columns of the filter and, of the rows that match, the
sort key and the primary key. The outer query reads the rows of the page by their
primary key. Both see the same parts (enable_shared_storage_snapshot_in_query), so
no change and no merge can come between.

The window is small and bounds the memory. A row is (order, id, negated version,
sign, signature, book); order and id rise from the start of the list to its end.
page.sql says which rows are live. */ -}}
WITH
(
    SELECT tuple(total, raw, arrayMap(row -> (row.5, row.6, bitNot(row.3)), arraySlice(live, {offset:UInt64} + 1, {limit:UInt64})))
    FROM
    (
        SELECT total, raw, arrayFilter(
            (row, previous) -> row.4 = 1 AND (row.2, row.3) != (previous.2, previous.3),
            rows, arrayShiftRight(rows, 1)
        ) AS live
        FROM
        (
            SELECT
                sum(sign) AS total,
                count() AS raw,
                groupArraySorted({window:UInt64})(({{.Key}}, bitNot(version), sign, signature, toInt8(book))) AS rows
            FROM records
            WHERE book > 'checkpoint'
{{- range .Filters}}
                AND {{.}}
{{- end}}
        )
    )
) AS found
SELECT
    found.1 AS total, found.2 AS raw,
    arrayMap(row -> row.2, arraySort(groupArray((indexOf(found.3, (signature, toInt8(book), version)), whole)))) AS page
FROM records
PREWHERE book IN ('system', 'database')
    AND signature IN (SELECT arrayJoin(arrayMap(row -> row.1, found.3)))
    AND sign = 1
    AND (signature, toInt8(book), version) IN (found.3)
