-- How many rows of occurrences belong to removed records: those in a range of signatures that
-- facts in a range have removed.
SELECT count()
FROM occurrences
WHERE signature BETWEEN unhex({first:String}) AND unhex({last:String})
  AND (book, signature, id) IN
  (
      SELECT book, signature, id
      FROM deployments
      WHERE gone = 1 AND sequence > {after:UInt64} AND sequence <= {to:UInt64} AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
  )
SETTINGS max_threads = 1
