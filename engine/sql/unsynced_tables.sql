-- The tables of this database that confirm inserts before fsync.
SELECT name
FROM system.tables
WHERE database = currentDatabase()
  AND engine LIKE '%MergeTree'
  AND NOT (create_table_query LIKE '%fsync_after_insert = 1%' AND create_table_query LIKE '%fsync_part_directory = 1%')
ORDER BY name
