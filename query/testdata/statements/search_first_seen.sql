-- total and page in one scan
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
                    groupArraySorted({window:UInt64})(concat(bitNot(reverse(reinterpretAsFixedString(bitNot(bitXor(reinterpretAsUInt64(toUnixTimestamp64Milli(first_seen)), 9223372036854775808))))), bitNot(substring(list_key, 9, 8)), substring(list_key, 17))) AS rows
                FROM records
                WHERE search LIKE lowerUTF8({search:String})
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
-- SETTINGS enable_shared_storage_snapshot_in_query = 1, max_block_size = 16384, max_threads = 2, merge_tree_min_rows_for_concurrent_read = 8192, optimize_use_projections = 0, query_plan_direct_read_from_text_index = 0
-- offset = 0
-- limit = 25
-- window = 250
-- search = "%x%"
