-- What the tables of this database have on disk, compressed.
SELECT toUInt64(sum(ifNull(total_bytes, 0)))
FROM system.tables
WHERE database = currentDatabase() AND engine LIKE '%MergeTree'
