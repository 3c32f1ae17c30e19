CREATE OR REPLACE VIEW {{.Views}}.storage
(
    name  String COMMENT 'the table behind the views: `hourly` is behind `occurrences_hourly`, `contexts` behind `payloads`',
    rows  UInt64 COMMENT 'rows on disk; several for each record until they are merged',
    bytes UInt64 COMMENT 'bytes on disk, compressed'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT name, ifNull(total_rows, 0) AS rows, ifNull(total_bytes, 0) AS bytes
FROM system.tables
WHERE database = '{{.TablesText}}' AND engine LIKE '%MergeTree'
COMMENT 'What the tables behind the views take.'
