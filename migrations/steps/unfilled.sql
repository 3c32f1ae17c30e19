-- The projections that some part of records lacks, unless something changes the
-- parts already.
WITH (SELECT groupArray(projections) FROM system.parts
      WHERE database = currentDatabase() AND table = 'records' AND active AND rows > 0) AS parts
SELECT arraySort(groupArray(name))
FROM system.projections
WHERE database = currentDatabase() AND table = 'records'
  AND arrayExists(part -> NOT has(part, name), parts)
  AND (SELECT count() FROM system.mutations
       WHERE database = currentDatabase() AND table = 'records' AND NOT is_done) = 0
