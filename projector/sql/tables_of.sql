-- The tables of the database. That of the records, which has the checkpoint, is the last one.
SELECT name
FROM system.tables
WHERE database = currentDatabase() AND endsWith(engine, 'MergeTree')
ORDER BY name = 'records', name
