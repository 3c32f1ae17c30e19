-- The ClickHouse projections and computed columns that some part of records lacks;
-- none while a mutation changes the parts.
WITH
    (SELECT groupArray((name, projections)) FROM system.parts
     WHERE database = currentDatabase() AND table = 'records' AND active AND rows > 0) AS parts,
    (SELECT groupArray((name, column)) FROM system.parts_columns
     WHERE database = currentDatabase() AND table = 'records' AND active) AS columns
SELECT arraySort(groupArray((what, name)))
FROM
(
    SELECT 'PROJECTION' AS what, name
    FROM system.projections
    WHERE database = currentDatabase() AND table = 'records'
      AND arrayExists(part -> NOT has(part.2, name), parts)
    UNION ALL
    SELECT 'COLUMN', name
    FROM system.columns
    WHERE database = currentDatabase() AND table = 'records' AND default_kind = 'MATERIALIZED'
      AND arrayExists(part -> NOT has(columns, (part.1, name)), parts)
)
WHERE (SELECT count() FROM system.mutations
       WHERE database = currentDatabase() AND table = 'records' AND NOT is_done) = 0
