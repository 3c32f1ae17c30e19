{{- /* Total and page in one statement, for filters that have to read the texts and
for what few rows match. The innermost query reads what the filter needs, and of
the rows that match nothing but list_key: what sorts them, whether they are live,
and their primary key. The outer one opens the granules that may have that, reads
nothing of it (indexHint), and knows the rows by the rest of list_key. Both see the
same parts (enable_shared_storage_snapshot_in_query), so no change and no
merge can come between.

Memory is bounded by the window, which is small. A row is the bytes that sort it:
eight of the order, eight of the id, then from the 17th on those of list_key, which
are version, sign, signature and book. For which rows are live see page.sql. The
checkpoint needs no condition of its own: its sign counts nothing.

The layers are subqueries because an alias is analysed again wherever it is used.
The answer is one row, also when the table has none. */ -}}
WITH
(
    SELECT tuple(total, raw, page)
    FROM
    (
        SELECT total, raw, arrayMap(row -> substring(row, 17), arraySlice(live, {offset:UInt64} + 1, {limit:UInt64})) AS page
        FROM
        (
            SELECT total, raw, arrayFilter(
                (row, previous) -> substring(row, 25, 1) = char(2) AND substring(row, 1, 24) != substring(previous, 1, 24),
                rows, arrayShiftRight(rows, 1)
            ) AS live
            FROM
            (
                SELECT
                    sum(reinterpretAsUInt8(substring(list_key, 25, 1))) - count() AS total,
                    count() AS raw,
                    groupArraySorted({window:UInt64})({{.Key}}) AS rows
                FROM records
{{- range $i, $filter := .Filters}}
                {{if $i}}    AND {{else}}WHERE {{end}}{{$filter}}
{{- end}}
            )
        )
    )
) AS found
SELECT
    found.1 AS total, found.2 AS raw,
    arrayMap(row -> row.2, arraySort(groupArray((indexOf(found.3, substring(list_key, 17)), packed)))) AS page
FROM records
WHERE indexHint(
        book IN ('system', 'database')
        AND signature IN (SELECT arrayJoin(arrayMap(row -> toFixedString(substring(row, 10, 16), 16), found.3)))
    )
    AND substring(list_key, 17) IN (found.3)
