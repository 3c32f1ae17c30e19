-- Whether only one server has the table.
SELECT engine LIKE '%MergeTree' AND engine NOT LIKE 'Replicated%' AND engine NOT LIKE 'Shared%'
FROM system.tables
WHERE database = currentDatabase() AND name = 'records'
