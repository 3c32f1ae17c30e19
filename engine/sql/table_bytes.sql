-- The compressed size of the tables of this database on disk, in bytes.
SELECT toUInt64(sum(ifNull(total_bytes, 0)))
FROM system.tables
WHERE database = currentDatabase() AND engine LIKE '%MergeTree'
