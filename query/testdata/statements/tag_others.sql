-- total and page
SELECT toInt8(any(book)) AS book_number, any(signature) AS digits, id, count() AS seen, min(time) AS first, max(time) AS last, count() OVER () AS total
FROM occurrences
WHERE book > 'checkpoint'
    AND book IN {books:Array(String)}
    AND environment IN {environment:Array(String)}
    AND has(tags, {tag_0:String})
    AND has(tags, {tag_1:String})
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
HAVING max(time) >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
    AND max(time) <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    AND count() >= {min_occurrence:UInt64}
ORDER BY count() DESC, id DESC
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
-- SETTINGS max_temporary_data_on_disk_size_for_query = 1073741824, max_threads = 2, optimize_use_projections = 0, use_index_for_in_with_subqueries_max_values = 100000
-- limit = 25
-- offset = 50
-- levels = ["fatal"]
-- from = 1795219200000
-- to = 1795305599999
-- min_occurrence = 2
-- books = ["system"]
-- environment = ["production"]
-- tag_0 = "browser\tChrome: 130"
-- tag_1 = "region\teu-1"
