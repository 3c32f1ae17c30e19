-- How many rows of occurrences belong to records that were removed by facts in a range,
-- of those in a range of signatures.
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
