-- total and page in one scan
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
                groupArraySorted({window:UInt64})((bitNot(bitXor(reinterpretAsUInt64(toUnixTimestamp64Milli(last_seen)), 9223372036854775808)), bitNot(id), bitNot(version), sign, signature, toInt8(book))) AS rows
            FROM records
            WHERE book > 'checkpoint'
                AND (signature, id) IN (SELECT signature, id FROM occurrences WHERE book > 'checkpoint' AND event_id = toFixedString(unhex({event_id:String}), 16))
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
-- SETTINGS enable_shared_storage_snapshot_in_query = 1, max_block_size = 16384, max_threads = 2, merge_tree_min_rows_for_concurrent_read = 8192, optimize_use_projections = 0, query_plan_direct_read_from_text_index = 0
-- offset = 0
-- limit = 25
-- window = 250
-- event_id = "00112233445566778899aabbccddeeff"
