-- Parts that ClickHouse could not load and has set aside.
SELECT table, name, min_block_number, max_block_number
FROM system.detached_parts
WHERE database = currentDatabase() AND table IN ('records', 'contexts', 'latest_contexts', 'hourly', 'deployments', 'occurrences', 'module_log', 'query_log') AND startsWith(reason, 'broken')
    AND min_block_number IS NOT NULL AND max_block_number IS NOT NULL
