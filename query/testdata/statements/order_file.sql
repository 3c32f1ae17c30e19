-- total
SELECT
    sum(sign) AS total,
    count() AS raw
FROM records
WHERE book > 'checkpoint'
    AND (texts LIKE lowerUTF8({word_0:String}) OR (signature, id) IN
        (
            SELECT signature, id FROM contexts
            WHERE words LIKE lowerUTF8({word_0:String}) AND (signature, id) NOT IN (SELECT signature, id FROM contexts WHERE gone = 2)
        ))
-- SETTINGS max_block_size = 16384, max_threads = 2, merge_tree_min_rows_for_concurrent_read = 8192, optimize_use_projections = 0, query_plan_direct_read_from_text_index = 0
-- word_0 = "%x%"
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
            AND (texts LIKE lowerUTF8({word_0:String}) OR (signature, id) IN
        (
            SELECT signature, id FROM contexts
            WHERE words LIKE lowerUTF8({word_0:String}) AND (signature, id) NOT IN (SELECT signature, id FROM contexts WHERE gone = 2)
        ))
        ORDER BY file DESC, id DESC, version DESC, sign ASC
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
-- word_0 = "%x%"
