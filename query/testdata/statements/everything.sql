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
                AND book IN {books:Array(String)}
                AND signature = toFixedString(unhex({signature:String}), 16)
                AND last_seen >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
                AND last_seen <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
                AND level IN {levels:Array(String)}
                AND status IN {statuses:Array(String)}
                AND count >= {min_occurrence:UInt64}
                AND status != 'muted' AND level NOT IN ('debug', 'info', 'notice') AND NOT noise
                AND upper(request_method) = upper({method:String})
                AND user_id = {user_id:Int64}
                AND ip = {ip:IPv6}
                AND indexHint(texts LIKE lowerUTF8({class_part:String}))
        AND lowerUTF8(exception_class) LIKE lowerUTF8({class_part:String})
                AND indexHint(texts LIKE lowerUTF8({file_part:String}))
        AND lowerUTF8(file) LIKE lowerUTF8({file_part:String})
                AND indexHint(texts LIKE lowerUTF8({uri_part:String}))
        AND lowerUTF8(request_uri) LIKE lowerUTF8({uri_part:String})
                AND (indexHint(texts LIKE lowerUTF8({message_part:String}))
        AND lowerUTF8(message_preview) LIKE lowerUTF8({message_part:String})
        OR (signature, id) IN
        (
            SELECT signature, id FROM contexts
            WHERE words LIKE lowerUTF8({message_part:String}) AND substringIndex(words, '\n', 1) LIKE lowerUTF8({message_part:String})
                AND (signature, id) NOT IN (SELECT signature, id FROM contexts WHERE gone = 2)
        ))
                AND (signature BETWEEN toFixedString(unhex({word_first_0:String}), 16) AND toFixedString(unhex({word_last_0:String}), 16) OR (texts LIKE lowerUTF8({word_0:String}) OR (signature, id) IN
        (
            SELECT signature, id FROM contexts
            WHERE words LIKE lowerUTF8({word_0:String}) AND (signature, id) NOT IN (SELECT signature, id FROM contexts WHERE gone = 2)
        )))
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
-- books = ["system"]
-- signature = "00112233445566778899aabbccddeeff"
-- from = 1795219200000
-- to = 1795305599999
-- levels = ["fatal"]
-- statuses = ["open"]
-- min_occurrence = 2
-- method = "f"
-- user_id = 1
-- ip = "::ffff:10.0.0.1"
-- class_part = "%d%"
-- file_part = "%c%"
-- uri_part = "%e%"
-- message_part = "%b%"
-- word_0 = "%a%"
-- word_first_0 = "a0000000000000000000000000000000"
-- word_last_0 = "afffffffffffffffffffffffffffffff"
