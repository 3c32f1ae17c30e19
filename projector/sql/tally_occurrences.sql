-- The occurrences of the records in a range of signatures. Records that were removed have only
-- rows that cancel each other.
SELECT count(), groupBitXor(cityHash64(toInt8(book), signature, id, position, number, project, time, received, event_id, client_id,
                                       environment, release, user_hash, user, toInt8(level), server, transaction, trace_id, tags))
FROM occurrences
WHERE book != 'checkpoint' AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
  AND cityHash64(book, signature, id) IN
  (
      SELECT cityHash64(book, signature, id) AS key
      FROM records
      WHERE book != 'checkpoint' AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
      GROUP BY key
      HAVING sum(sign) > 0
  )
SETTINGS use_skip_indexes = 0
