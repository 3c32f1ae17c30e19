{{- /* Total and page in one statement, for filters that have to read the texts and
for what few rows match. The innermost query reads what the filter needs, and of
the rows that match the least that sorts and places them, which stands together
in row_key; the outer one reads the 25 rows. Both see the same parts
(enable_shared_storage_snapshot_in_query), so a place is one number, how many
rows of those parts come before it, and no merge can come between.

Memory is bounded by the window, which is small. groupArraySorted sorts upwards
only: what is to be sorted downwards comes negated. A row is (sort key, id,
version, sign, place); for which of them are live see page.sql. The layers are
subqueries because an alias is analysed again wherever it is used.

The answer is a row for each record. A page without one has the row at place 0,
whatever that is, to tell the total; only a table without rows tells none. */ -}}
WITH
(
    SELECT tuple(total, raw, length(page), if(empty(page), [toUInt64(0)], page))
    FROM
    (
        SELECT total, raw, arraySlice(live, {offset:UInt64} + 1, {limit:UInt64}).5 AS page
        FROM
        (
            SELECT total, raw, arrayFilter(
                (row, previous) -> row.4 = 1 AND (row.2 != previous.2 OR row.3 != previous.3),
                rows, arrayShiftRight(rows, 1)
            ) AS live
            FROM
            (
                SELECT
                    sum(reinterpretAsInt8(substring(row_key, 25, 1))) AS total,
                    count() AS raw,
                    groupArraySorted({window:UInt64})((
                        {{.Keys}},
                        bitNot(reinterpretAsUInt64(substring(row_key, 17, 8))),
                        reinterpretAsInt8(substring(row_key, 25, 1)),
                        _part_starting_offset + _part_offset)) AS rows
                FROM records
                WHERE book > 'checkpoint'
{{- range .Filters}}
                    AND {{.}}
{{- end}}
            )
        )
    )
) AS found
SELECT found.1 AS total, found.2 AS raw, found.3 AS on_page, packed
FROM records
PREWHERE _part_starting_offset + _part_offset IN (found.4)
ORDER BY indexOf(found.4, _part_starting_offset + _part_offset)
