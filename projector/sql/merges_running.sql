-- How many merges and mutations of the tables run on this server. A merge that was chosen and
-- has not begun is not here. It ends when it begins, if merges were stopped before.
SELECT count()
FROM system.merges
WHERE database = currentDatabase() AND table IN {tables:Array(String)}
