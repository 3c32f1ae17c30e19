-- The active parts of our tables, the youngest first; a table without parts has
-- one row without a name.
SELECT t.name, toString(t.uuid), p.name, p.rows, p.bytes_on_disk, toInt64(toUnixTimestamp(p.modification_time)), p.min_block_number, p.max_block_number
FROM
(
    SELECT name, uuid
    FROM system.tables
    WHERE database = currentDatabase() AND name IN ('records', 'contexts', 'latest_contexts', 'hourly', 'deployments', 'occurrences', 'module_log', 'query_log')
) AS t
LEFT JOIN
(
    SELECT table, name, rows, bytes_on_disk, modification_time, min_block_number, max_block_number
    FROM system.parts
    WHERE database = currentDatabase() AND active
) AS p ON p.table = t.name
ORDER BY p.modification_time DESC, p.name
SETTINGS join_use_nulls = 0
