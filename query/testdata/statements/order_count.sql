-- total
SELECT
    sum(sign) AS total,
    count() AS raw
FROM records
WHERE book != 'checkpoint'
-- SETTINGS max_threads = 2, optimize_use_projections = 0
-- page
SELECT toInt8(book) AS book_number, signature, version
FROM
(
    SELECT book, signature, id, version, sign
    FROM
    (
        SELECT book, signature, id, version, sign
        FROM records
        WHERE book != 'checkpoint'
        ORDER BY count ASC, id ASC, version DESC, sign ASC
        LIMIT {window:UInt64}
    )
    LIMIT 1 BY id, version
)
WHERE sign = 1
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
-- SETTINGS max_threads = 2, optimize_use_projections = 0
-- offset = 50
-- limit = 50
-- window = 400
