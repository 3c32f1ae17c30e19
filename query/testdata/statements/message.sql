-- total and page in one scan
WITH
(
    SELECT tuple(total, raw, length(page), if(empty(page), [toUInt64(0)], page))
    FROM
    (
        SELECT total, raw, arrayMap(row -> row.5, arraySlice(live, {offset:UInt64} + 1, {limit:UInt64})) AS page
        FROM
        (
            SELECT total, raw, arrayFilter(
                (row, state, previous) -> row.4 = 1 AND state != previous,
                rows, states, arrayShiftRight(states, 1)
            ) AS live
            FROM
            (
                SELECT total, raw, rows, arrayMap(row -> (row.2, row.3), rows) AS states
                FROM
                (
                    SELECT
                        sum(sign) AS total,
                        count() AS raw,
                        groupArraySorted({window:UInt64})((bitNot(toUnixTimestamp64Milli(last_seen)), bitNot(id), bitNot(version), sign, _part_starting_offset + _part_offset)) AS rows
                    FROM records
                    WHERE book > 'checkpoint'
                        AND indexHint(search LIKE lowerUTF8({message_part:String}))
        AND lowerUTF8(message_preview) LIKE lowerUTF8({message_part:String})
        AND lowerUTF8(message_preview) LIKE lowerUTF8({message_like:String})
                )
            )
        )
    )
) AS found
SELECT
    found.1 AS total, found.2 AS raw, found.3 AS on_page,
    book, signature, id, version, count, first_seen, last_seen,
    level, file, line, message_preview, exception_class,
    request_uri, request_method, user_id, ip, status, regressed
FROM records
PREWHERE _part_starting_offset + _part_offset IN (found.4)
ORDER BY last_seen DESC, id DESC, version DESC, sign ASC
-- SETTINGS enable_shared_storage_snapshot_in_query = 1, max_block_size = 16384, max_threads = 2, optimize_use_projections = 0
-- offset = 0
-- limit = 25
-- window = 250
-- message_part = "% failed%"
-- message_like = "%order % failed%"
