-- Whether the tables of another database can be copied into this one: not when this one has
-- tables, nor when those have replicas, because a copy would be another replica.
SELECT countIf(database = currentDatabase()) = 0 AND countIf(engine LIKE 'Replicated%' OR engine LIKE 'Shared%') = 0
FROM system.tables
WHERE database IN (currentDatabase(), {from:String})
