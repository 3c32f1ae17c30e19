-- total
SELECT uniqExact(id) AS total
FROM occurrences
WHERE book > 'checkpoint'
    AND has(tags, {tag_0:String})
    AND id NOT IN (SELECT id FROM deployments WHERE gone = 1)
-- SETTINGS max_bytes_before_external_group_by = 134217728, max_temporary_data_on_disk_size_for_query = 1073741824, max_threads = 2, optimize_use_projections = 0, use_index_for_in_with_subqueries_max_values = 100000
-- tag_0 = "region\teu-1"
-- total, in little memory
SELECT count() AS total
FROM
(
SELECT id
FROM occurrences
WHERE book > 'checkpoint'
    AND has(tags, {tag_0:String})
    AND id NOT IN (SELECT id FROM deployments WHERE gone = 1)
GROUP BY id
)
-- SETTINGS max_bytes_before_external_group_by = 134217728, max_temporary_data_on_disk_size_for_query = 1073741824, max_threads = 2, optimize_use_projections = 0, use_index_for_in_with_subqueries_max_values = 100000
-- tag_0 = "region\teu-1"
-- page, in order
SELECT toInt8(any(book)) AS book_number, any(signature) AS digits, id, count() AS read
FROM occurrences
WHERE book > 'checkpoint'
    AND has(tags, {tag_0:String})
    AND id NOT IN (SELECT id FROM deployments WHERE gone = 1)
    AND time >= (SELECT min(last_seen) FROM (SELECT last_seen FROM records WHERE book > 'checkpoint' ORDER BY last_seen DESC LIMIT {window:UInt64}))
GROUP BY id
ORDER BY max(time) DESC, id DESC
-- SETTINGS max_threads = 2, optimize_use_projections = 1, read_in_order_use_buffering = 0, use_top_k_dynamic_filtering = 0
-- window = 250
-- tag_0 = "region\teu-1"
-- page
SELECT toInt8(any(book)) AS book_number, any(signature) AS digits, id, count() AS read
FROM occurrences
WHERE book > 'checkpoint'
    AND has(tags, {tag_0:String})
    AND id IN
    (
SELECT id
FROM occurrences
WHERE book > 'checkpoint'
    AND has(tags, {tag_0:String})
    AND id NOT IN (SELECT id FROM deployments WHERE gone = 1)
GROUP BY id
ORDER BY max(time) DESC, id DESC
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
    )
GROUP BY id
ORDER BY max(time) DESC, id DESC
-- SETTINGS max_bytes_before_external_group_by = 134217728, max_temporary_data_on_disk_size_for_query = 1073741824, max_threads = 2, optimize_use_projections = 0, use_index_for_in_with_subqueries_max_values = 100000
-- limit = 25
-- offset = 0
-- tag_0 = "region\teu-1"
