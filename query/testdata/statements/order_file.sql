-- total
SELECT
    sum(sign) AS total,
    count() AS raw
FROM records
WHERE book != 'checkpoint'
    AND (
        lowerUTF8(message_preview) LIKE lowerUTF8({search:String})
        OR lowerUTF8(exception_class) LIKE lowerUTF8({search:String})
        OR lowerUTF8(file) LIKE lowerUTF8({search:String})
        OR lowerUTF8(request_uri) LIKE lowerUTF8({search:String})
    )
-- SETTINGS max_threads = 2, optimize_use_projections = 0
-- search = "%x%"
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
            AND (
        lowerUTF8(message_preview) LIKE lowerUTF8({search:String})
        OR lowerUTF8(exception_class) LIKE lowerUTF8({search:String})
        OR lowerUTF8(file) LIKE lowerUTF8({search:String})
        OR lowerUTF8(request_uri) LIKE lowerUTF8({search:String})
    )
        ORDER BY file DESC, id DESC, version DESC, sign ASC
        LIMIT {window:UInt64}
    )
    LIMIT 1 BY id, version
)
WHERE sign = 1
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
-- SETTINGS max_threads = 2, optimize_use_projections = 0
-- offset = 0
-- limit = 25
-- window = 250
-- search = "%x%"
