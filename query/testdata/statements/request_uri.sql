-- total and page in one scan
WITH
    groupArraySorted({window:UInt64})((bitNot(toUnixTimestamp64Milli(last_seen)), bitNot(id), bitNot(version), sign, toInt8(book), signature, toString(_part), _part_offset)) AS rows,
    arrayMap(row -> (row.2, row.3), rows) AS states,
    arrayFilter(
        (row, state, previous) -> row.4 = 1 AND state != previous,
        rows, states, arrayShiftRight(states, 1)
    ) AS live,
    arraySlice(live, {offset:UInt64} + 1, {limit:UInt64}) AS page
SELECT
    sum(sign) AS total,
    count() AS raw,
    arrayMap(row -> row.5, page) AS books,
    arrayMap(row -> row.6, page) AS signatures,
    arrayMap(row -> bitNot(row.3), page) AS versions,
    arrayMap(row -> row.7, page) AS parts,
    arrayMap(row -> row.8, page) AS offsets
FROM records
WHERE book > 'checkpoint'
    AND indexHint(search LIKE lowerUTF8({uri_part:String}))
        AND lowerUTF8(request_uri) LIKE lowerUTF8({uri_part:String}) AND lowerUTF8(request_uri) LIKE lowerUTF8({uri_like:String})
-- SETTINGS max_block_size = 16384, max_threads = 2, optimize_use_projections = 0
-- offset = 0
-- limit = 25
-- window = 250
-- uri_part = "%/checkout%"
-- uri_like = "%/checkout%"
