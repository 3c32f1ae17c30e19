-- Deletes them. A merge takes them from the disk.
DELETE FROM occurrences
WHERE signature BETWEEN unhex({first:String}) AND unhex({last:String})
  AND (book, signature, id) IN
  (
      SELECT book, signature, id
      FROM deployments
      WHERE gone = 1 AND sequence > {after:UInt64} AND sequence <= {to:UInt64} AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
  )
