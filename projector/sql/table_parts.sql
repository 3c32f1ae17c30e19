-- The active parts of the projection's tables: how many, their rows, the rows
-- of the largest and how many seconds ago that was written, how many lack a
-- projection that their table has, how many have deleted rows, and whether the table is being merged.
SELECT
    table,
    count(),
    sum(rows),
    max(rows),
    toUInt64(greatest(0, dateDiff('second', argMax(modification_time, rows), now()))),
    countIf(NOT hasAll(projections, names)),
    countIf(has_lightweight_delete),
    table IN (SELECT table FROM system.merges WHERE database = currentDatabase())
FROM system.parts
LEFT JOIN
(
    SELECT table, groupArray(name) AS names
    FROM system.projections
    WHERE database = currentDatabase()
    GROUP BY table
) AS made USING (table)
WHERE database = currentDatabase() AND active AND table IN ('records', 'contexts', 'latest_contexts', 'hourly', 'deployments', 'occurrences')
GROUP BY table
-- The records first: every list reads them.
ORDER BY table = 'records' DESC, table
