-- total and page in one scan
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
                        bitNot(reinterpretAsInt64(substring(row_key, 1, 8))), bitNot(reinterpretAsUInt64(substring(row_key, 9, 8))),
                        bitNot(reinterpretAsUInt64(substring(row_key, 17, 8))),
                        reinterpretAsInt8(substring(row_key, 25, 1)),
                        _part_starting_offset + _part_offset)) AS rows
                FROM records
                WHERE book > 'checkpoint'
                    AND (signature BETWEEN toFixedString(unhex({search_first:String}), 16) AND toFixedString(unhex({search_last:String}), 16) OR search LIKE lowerUTF8({search:String}))
            )
        )
    )
) AS found
SELECT found.1 AS total, found.2 AS raw, found.3 AS on_page, packed
FROM records
PREWHERE _part_starting_offset + _part_offset IN (found.4)
ORDER BY indexOf(found.4, _part_starting_offset + _part_offset)
-- SETTINGS enable_shared_storage_snapshot_in_query = 1, max_block_size = 16384, max_threads = 2, merge_tree_min_rows_for_concurrent_read = 8192, optimize_use_projections = 0, query_plan_direct_read_from_text_index = 0
-- offset = 0
-- limit = 25
-- window = 250
-- search = "%BEEF%"
-- search_first = "beef0000000000000000000000000000"
-- search_last = "beefffffffffffffffffffffffffffff"
