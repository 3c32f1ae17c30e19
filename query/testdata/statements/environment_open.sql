-- total
SELECT uniqExact(id) AS total
FROM deployments
WHERE book > 'checkpoint'
    AND environment IN {environment:Array(String)}
    AND id NOT IN (SELECT id FROM deployments WHERE gone = 1)
    AND id NOT IN
    (
        SELECT id
        FROM records
        WHERE book > 'checkpoint'
            AND NOT (status IN {statuses:Array(String)}
            AND lowerUTF8(exception_class) LIKE lowerUTF8({class_part:String}))
        GROUP BY id
        HAVING sum(sign) > 0
    )
-- SETTINGS max_bytes_before_external_group_by = 134217728, max_temporary_data_on_disk_size_for_query = 1073741824, max_threads = 2, optimize_use_projections = 0, use_index_for_in_with_subqueries_max_values = 100000
-- statuses = ["open"]
-- class_part = "%TypeError%"
-- environment = ["production"]
-- total, in little memory
SELECT count() AS total
FROM
(
SELECT id
FROM deployments
WHERE book > 'checkpoint'
    AND environment IN {environment:Array(String)}
    AND id NOT IN (SELECT id FROM deployments WHERE gone = 1)
    AND id NOT IN
    (
        SELECT id
        FROM records
        WHERE book > 'checkpoint'
            AND NOT (status IN {statuses:Array(String)}
            AND lowerUTF8(exception_class) LIKE lowerUTF8({class_part:String}))
        GROUP BY id
        HAVING sum(sign) > 0
    )
GROUP BY id
)
-- SETTINGS max_bytes_before_external_group_by = 134217728, max_temporary_data_on_disk_size_for_query = 1073741824, max_threads = 2, optimize_use_projections = 0, use_index_for_in_with_subqueries_max_values = 100000
-- statuses = ["open"]
-- class_part = "%TypeError%"
-- environment = ["production"]
-- page, in order
SELECT toInt8(any(book)) AS book_number, any(signature) AS digits, id, count() AS read
FROM
(
    SELECT book, signature, id, last_seen
    FROM deployments
WHERE book > 'checkpoint'
    AND environment IN {environment:Array(String)}
    AND id NOT IN (SELECT id FROM deployments WHERE gone = 1)
    ORDER BY last_seen DESC, id DESC
    LIMIT {window:UInt64}
)
GROUP BY id
ORDER BY max(last_seen) DESC, id DESC
-- SETTINGS max_block_size = 512, max_threads = 1, optimize_use_projections = 1, query_plan_optimize_lazy_materialization = 0, read_in_order_use_buffering = 0, use_top_k_dynamic_filtering = 0
-- window = 250
-- environment = ["production"]
-- page
SELECT toInt8(any(book)) AS book_number, any(signature) AS digits, id, count() AS read
FROM deployments
WHERE book > 'checkpoint'
    AND environment IN {environment:Array(String)}
    AND id IN
    (
SELECT id
FROM deployments
WHERE book > 'checkpoint'
    AND environment IN {environment:Array(String)}
    AND id NOT IN (SELECT id FROM deployments WHERE gone = 1)
    AND id NOT IN
    (
        SELECT id
        FROM records
        WHERE book > 'checkpoint'
            AND NOT (status IN {statuses:Array(String)}
            AND lowerUTF8(exception_class) LIKE lowerUTF8({class_part:String}))
        GROUP BY id
        HAVING sum(sign) > 0
    )
GROUP BY id
ORDER BY max(last_seen) DESC, id DESC
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
    )
GROUP BY id
ORDER BY max(last_seen) DESC, id DESC
-- SETTINGS max_bytes_before_external_group_by = 134217728, max_temporary_data_on_disk_size_for_query = 1073741824, max_threads = 2, optimize_use_projections = 0, use_index_for_in_with_subqueries_max_values = 100000
-- limit = 25
-- offset = 0
-- statuses = ["open"]
-- class_part = "%TypeError%"
-- environment = ["production"]
