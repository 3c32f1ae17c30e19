-- total
SELECT sum(total) AS total, sum(raw) AS raw
FROM
(
    SELECT
        sum(sign) AS total,
        count() AS raw
    FROM records
    WHERE book > 'checkpoint'
        AND toDate32(last_seen) >= toDate32(fromUnixTimestamp64Milli({first_day:Int64}, 'UTC'))
        AND book IN {books:Array(String)}
        AND level IN {levels:Array(String)}
    UNION ALL
    SELECT
        sum(sign) AS total,
        count() AS raw
    FROM records
    WHERE book > 'checkpoint'
        AND last_seen >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND last_seen < fromUnixTimestamp64Milli({first_day:Int64}, 'UTC')
        AND book IN {books:Array(String)}
        AND level IN {levels:Array(String)}
)
-- SETTINGS enable_shared_storage_snapshot_in_query = 1, max_threads = 2, optimize_use_projections = 1
-- first_day = 1794700800000
-- from = 1794628705000
-- books = ["system"]
-- levels = ["fatal"]
-- page, in order
SELECT toInt8(book) AS book_number, signature, version, part, part_offset
FROM
(
    SELECT book, signature, id, version, sign, part, part_offset
    FROM
    (
        SELECT book, signature, id, version, sign, _part AS part, _part_offset AS part_offset
        FROM records
        WHERE book > 'checkpoint'
            AND indexOf({books:Array(String)}, toString(book)) > 0
            AND last_seen >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
            AND level IN {levels:Array(String)}
        ORDER BY last_seen DESC, id DESC, version DESC, sign ASC
        LIMIT {window:UInt64}
    )
    LIMIT 1 BY id, version
)
WHERE sign = 1
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
-- SETTINGS max_block_size = 512, max_threads = 1, optimize_use_projections = 1, query_plan_optimize_lazy_materialization = 0, read_in_order_use_buffering = 0, use_top_k_dynamic_filtering = 0
-- offset = 0
-- limit = 25
-- window = 250
-- books = ["system"]
-- from = 1794628705000
-- levels = ["fatal"]
