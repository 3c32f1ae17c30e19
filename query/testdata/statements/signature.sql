-- total
SELECT
    sum(sign) AS total,
    count() AS raw
FROM records
WHERE book > 'checkpoint'
    AND signature = toFixedString(unhex({signature:String}), 16)
-- SETTINGS max_block_size = 16384, max_threads = 2, merge_tree_min_rows_for_concurrent_read = 8192, optimize_use_projections = 0, query_plan_direct_read_from_text_index = 0
-- signature = "00112233445566778899aabbccddeeff"
-- page
SELECT toInt8(book) AS book_number, signature, version
FROM
(
    SELECT book, signature, id, version, sign
    FROM
    (
        SELECT book, signature, id, version, sign
        FROM records
        WHERE book > 'checkpoint'
            AND signature = toFixedString(unhex({signature:String}), 16)
        ORDER BY last_seen DESC, id DESC, version DESC, sign ASC
        LIMIT {window:UInt64}
    )
    LIMIT 1 BY id, version
)
WHERE sign = 1
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
-- SETTINGS max_block_size = 16384, max_threads = 2, merge_tree_min_rows_for_concurrent_read = 8192, optimize_use_projections = 0, query_plan_direct_read_from_text_index = 0
-- offset = 0
-- limit = 25
-- window = 250
-- signature = "00112233445566778899aabbccddeeff"
