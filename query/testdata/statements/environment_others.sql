-- total
SELECT count() AS total
FROM
(
SELECT id
FROM deployments
WHERE book > 'checkpoint'
    AND book IN {books:Array(String)}
    AND environment IN {environment:Array(String)}
    AND match(release, {release:String})
    AND id NOT IN (SELECT id FROM deployments WHERE gone = 1)
    AND id IN
    (
        SELECT id
        FROM records
        WHERE book > 'checkpoint'
            AND level IN {levels:Array(String)}
        GROUP BY id
        HAVING sum(sign) > 0
    )
GROUP BY id
HAVING max(last_seen) >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
    AND max(last_seen) <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND sum(count) >= {min_occurrence:UInt64}
)
-- SETTINGS max_bytes_before_external_group_by = 134217728, max_temporary_data_on_disk_size_for_query = 1073741824, max_threads = 2, optimize_use_projections = 0, use_index_for_in_with_subqueries_max_values = 100000
-- levels = ["fatal"]
-- from = 1795219200000
-- to = 1795305599999
-- min_occurrence = 2
-- books = ["system"]
-- environment = ["production"]
-- release = "^(?s:shop@1\\..*)$"
-- total, in little memory
SELECT count() AS total
FROM
(
SELECT id
FROM deployments
WHERE book > 'checkpoint'
    AND book IN {books:Array(String)}
    AND environment IN {environment:Array(String)}
    AND match(release, {release:String})
    AND id NOT IN (SELECT id FROM deployments WHERE gone = 1)
    AND id IN
    (
        SELECT id
        FROM records
        WHERE book > 'checkpoint'
            AND level IN {levels:Array(String)}
        GROUP BY id
        HAVING sum(sign) > 0
    )
GROUP BY id
HAVING max(last_seen) >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
    AND max(last_seen) <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND sum(count) >= {min_occurrence:UInt64}
)
-- SETTINGS max_bytes_before_external_group_by = 134217728, max_temporary_data_on_disk_size_for_query = 1073741824, max_threads = 2, optimize_use_projections = 0, use_index_for_in_with_subqueries_max_values = 100000
-- levels = ["fatal"]
-- from = 1795219200000
-- to = 1795305599999
-- min_occurrence = 2
-- books = ["system"]
-- environment = ["production"]
-- release = "^(?s:shop@1\\..*)$"
-- page, in order
SELECT toInt8(any(book)) AS book_number, any(signature) AS digits, id, count() AS read
FROM
(
    SELECT book, signature, id, last_seen
    FROM deployments
WHERE book > 'checkpoint'
    AND indexOf({books:Array(String)}, toString(book)) > 0
    AND environment IN {environment:Array(String)}
    AND match(release, {release:String})
    AND id NOT IN (SELECT id FROM deployments WHERE gone = 1)
    ORDER BY last_seen DESC, id DESC
    LIMIT {window:UInt64}
)
GROUP BY id
ORDER BY max(last_seen) DESC, id DESC
-- SETTINGS max_block_size = 512, max_threads = 1, optimize_use_projections = 1, query_plan_optimize_lazy_materialization = 0, read_in_order_use_buffering = 0, use_top_k_dynamic_filtering = 0
-- window = 350
-- books = ["system"]
-- environment = ["production"]
-- release = "^(?s:shop@1\\..*)$"
-- page
SELECT toInt8(any(book)) AS book_number, any(signature) AS digits, id, count() AS read
FROM deployments
WHERE book > 'checkpoint'
    AND book IN {books:Array(String)}
    AND environment IN {environment:Array(String)}
    AND match(release, {release:String})
    AND id IN
    (
SELECT id
FROM deployments
WHERE book > 'checkpoint'
    AND book IN {books:Array(String)}
    AND environment IN {environment:Array(String)}
    AND match(release, {release:String})
    AND id NOT IN (SELECT id FROM deployments WHERE gone = 1)
    AND id IN
    (
        SELECT id
        FROM records
        WHERE book > 'checkpoint'
            AND level IN {levels:Array(String)}
        GROUP BY id
        HAVING sum(sign) > 0
    )
GROUP BY id
HAVING max(last_seen) >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
    AND max(last_seen) <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND sum(count) >= {min_occurrence:UInt64}
ORDER BY sum(count) DESC, id DESC
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
    )
GROUP BY id
ORDER BY sum(count) DESC, id DESC
-- SETTINGS max_bytes_before_external_group_by = 134217728, max_temporary_data_on_disk_size_for_query = 1073741824, max_threads = 2, optimize_use_projections = 0, use_index_for_in_with_subqueries_max_values = 100000
-- limit = 25
-- offset = 50
-- levels = ["fatal"]
-- from = 1795219200000
-- to = 1795305599999
-- min_occurrence = 2
-- books = ["system"]
-- environment = ["production"]
-- release = "^(?s:shop@1\\..*)$"
