-- a page
SELECT number, position, event_id, client_id, time, received, environment, release, user_hash, user,
    toString(level) AS level_name, server, transaction, trace_id, tags
FROM occurrences
WHERE book = {book:String}
    AND signature = toFixedString(unhex({signature:String}), 16)
    AND id = {id:UInt64}
    AND number <= {count:UInt64}
    AND match(environment, {environment:String})
    AND release IN {release:Array(String)}
    AND user = {user:String}
    AND time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
    AND time <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND has(tags, {tag_0:String})
    AND has(tags, {tag_1:String})
    AND position <= {up_to:UInt64}
ORDER BY position DESC
LIMIT {limit:UInt64}
-- SETTINGS max_block_size = 512, max_threads = 1, optimize_use_projections = 0, read_in_order_use_buffering = 0, use_skip_indexes = 0, use_top_k_dynamic_filtering = 0
-- book = "database"
-- signature = "010000000000000000000000000000ff"
-- id = 8192
-- count = 118
-- limit = 26
-- environment = "^(?s:prod.*|qa)$"
-- release = ["1"]
-- user = "ann"
-- from = 1793491200000
-- to = 1795233505500
-- tag_0 = "a\tb"
-- tag_1 = "region\teu-1"
-- up_to = 9000
-- of a user without a name, the next one
SELECT number, position, event_id, client_id, time, received, environment, release, user_hash, user,
    toString(level) AS level_name, server, transaction, trace_id, tags
FROM occurrences
WHERE book = {book:String}
    AND signature = toFixedString(unhex({signature:String}), 16)
    AND id = {id:UInt64}
    AND number <= {count:UInt64}
    AND user_hash = {user_hash:UInt64}
    AND position > {after:UInt64}
ORDER BY position ASC
LIMIT {limit:UInt64}
-- SETTINGS max_block_size = 512, max_threads = 1, optimize_use_projections = 0, read_in_order_use_buffering = 0, use_skip_indexes = 0, use_top_k_dynamic_filtering = 0
-- book = "database"
-- signature = "010000000000000000000000000000ff"
-- id = 8192
-- count = 118
-- limit = 1
-- user_hash = 255
-- after = 9000
-- where the next one is
SELECT position
FROM occurrences
WHERE book = {book:String}
    AND signature = toFixedString(unhex({signature:String}), 16)
    AND id = {id:UInt64}
    AND number <= {count:UInt64}
    AND position > {after:UInt64}
ORDER BY position
LIMIT 1
-- SETTINGS max_block_size = 512, max_threads = 1, optimize_use_projections = 0, read_in_order_use_buffering = 0, use_skip_indexes = 0, use_top_k_dynamic_filtering = 0
-- book = "database"
-- signature = "010000000000000000000000000000ff"
-- id = 8192
-- count = 118
-- after = 9000
-- an event id
SELECT toInt8(book) AS book_number, signature, id, position
FROM occurrences
PREWHERE event_id = toFixedString(unhex({event_id:String}), 16)
WHERE book > 'checkpoint'
    AND project IN {projects:Array(UInt64)}
ORDER BY position DESC
LIMIT {limit:UInt64}
-- SETTINGS max_threads = 2, optimize_use_projections = 1, query_plan_optimize_lazy_materialization = 0, use_skip_indexes_on_data_read = 0, use_top_k_dynamic_filtering = 0
-- limit = 100
-- event_id = "00112233445566778899aabbccddeeff"
-- projects = [7]
-- another event id
SELECT toInt8(book) AS book_number, signature, id, position
FROM occurrences
PREWHERE client_id = {event_id:String}
WHERE book > 'checkpoint'
ORDER BY position DESC
LIMIT {limit:UInt64}
-- SETTINGS max_threads = 2, optimize_use_projections = 1, query_plan_optimize_lazy_materialization = 0, use_skip_indexes_on_data_read = 0, use_top_k_dynamic_filtering = 0
-- limit = 100
-- event_id = "order 77"
-- users of the rows of a page
SELECT any(signature), id, uniqExactIf(user_hash, user_hash != 0 AND user_hash % {shares:UInt64} = {share:UInt64}) AS users, count() AS occurrences
FROM occurrences
PREWHERE book IN ('system', 'database')
    AND signature IN (SELECT arrayJoin(arrayMap(digits -> toFixedString(unhex(digits), 16), {signatures:Array(String)})))
GROUP BY id
-- SETTINGS max_threads = 2, merge_tree_min_rows_for_concurrent_read = 8192, optimize_use_projections = 1, use_skip_indexes = 0
-- signatures = ["010000000000000000000000000000ff"]
-- share = 0
-- shares = 1
-- facets_deployments.sql
SELECT environment, release, sum(count) AS seen, min(first_seen) AS first, max(last_seen) AS last
FROM deployments
WHERE book = {book:String}
    AND signature = toFixedString(unhex({signature:String}), 16)
    AND id = {id:UInt64}
    AND count > 0
GROUP BY environment, release
-- SETTINGS max_threads = 2, merge_tree_min_rows_for_concurrent_read = 8192, optimize_use_projections = 1, use_skip_indexes = 0
-- book = "database"
-- signature = "010000000000000000000000000000ff"
-- id = 8192
-- users = 10
-- values = 10
-- before = 5
-- facets_users.sql
SELECT user_hash, any(user) AS name, count() AS seen
FROM occurrences
WHERE book = {book:String}
    AND signature = toFixedString(unhex({signature:String}), 16)
    AND id = {id:UInt64}
    AND number > {before:UInt64}
    AND user_hash != 0
GROUP BY user_hash
ORDER BY seen DESC, user_hash
LIMIT {users:UInt64}
-- SETTINGS max_threads = 2, merge_tree_min_rows_for_concurrent_read = 8192, optimize_use_projections = 1, use_skip_indexes = 0
-- book = "database"
-- signature = "010000000000000000000000000000ff"
-- id = 8192
-- users = 10
-- values = 10
-- before = 5
-- facets_tags.sql
SELECT tag, count() AS seen
FROM occurrences
ARRAY JOIN tags AS tag
WHERE book = {book:String}
    AND signature = toFixedString(unhex({signature:String}), 16)
    AND id = {id:UInt64}
    AND number > {before:UInt64}
GROUP BY tag
ORDER BY seen DESC, tag
LIMIT {values:UInt64} BY substringIndex(tag, '\t', 1)
-- SETTINGS max_threads = 2, merge_tree_min_rows_for_concurrent_read = 8192, optimize_use_projections = 1, use_skip_indexes = 0
-- book = "database"
-- signature = "010000000000000000000000000000ff"
-- id = 8192
-- users = 10
-- values = 10
-- before = 5
-- a trend by release
SELECT least(place, {releases:UInt64} + 1) AS slot, any(release) AS name, bucket, sum(events) AS seen, max(place) AS last_place
FROM
(
    SELECT release, bucket, events, dense_rank() OVER (ORDER BY of_release DESC, release ASC) AS place
    FROM
    (
        SELECT release, bucket, events, sum(events) OVER (PARTITION BY release) AS of_release
        FROM
        (
            SELECT release, intDiv(toUnixTimestamp64Milli(time) - 1000 * {from:Int64}, 1000 * {step:Int64}) AS bucket, count() AS events
            FROM occurrences
            WHERE book = {book:String}
                AND signature = toFixedString(unhex({signature:String}), 16)
                AND id = {id:UInt64}
                AND number <= {count:UInt64}
                AND time >= fromUnixTimestamp64Milli(1000 * {from:Int64}, 'UTC') AND time < fromUnixTimestamp64Milli(1000 * {to:Int64}, 'UTC')
            GROUP BY release, bucket
        )
    )
)
GROUP BY slot, bucket
ORDER BY slot, bucket
-- SETTINGS max_threads = 2, merge_tree_min_rows_for_concurrent_read = 8192, optimize_use_projections = 1, use_skip_indexes = 0
-- book = "database"
-- signature = "010000000000000000000000000000ff"
-- id = 8192
-- count = 118
-- releases = 5
-- from = 1792713600
-- to = 1795305600
-- step = 86400
