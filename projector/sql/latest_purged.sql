-- The latest occurrence of each record in a range of signatures, where it is in a stretch
-- of the log that is about to be purged. The first one has its context beside the record,
-- and some may have been copied before a crash.
SELECT toString(book), signature, id, max(position) AS latest
FROM occurrences
WHERE book != 'checkpoint' AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
  AND (book, signature, id) IN
  (
      SELECT book, signature, id
      FROM records FINAL
      WHERE book IN ('system', 'database') AND signature BETWEEN unhex({first:String}) AND unhex({last:String}) AND count > 1
  )
GROUP BY book, signature, id
HAVING latest >= {from:UInt64} AND latest < {until:UInt64} AND latest != id
   AND (book, signature, id, latest) NOT IN
   (
       SELECT book, signature, id, position
       FROM latest_contexts
       WHERE signature BETWEEN unhex({first:String}) AND unhex({last:String})
   )
ORDER BY latest
SETTINGS use_skip_indexes = 0, optimize_aggregation_in_order = 1
