-- Deletes the contexts of their latest events.
DELETE FROM latest_contexts
WHERE signature BETWEEN unhex({first:String}) AND unhex({last:String})
  AND (book, signature, id) IN
  (
      SELECT book, signature, id
      FROM deployments
      WHERE gone = 1 AND sequence > {after:UInt64} AND sequence <= {to:UInt64} AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
  )
