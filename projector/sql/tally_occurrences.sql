-- The occurrences in a range of signatures, without those of records that are gone.
SELECT count(), groupBitXor(cityHash64(toInt8(book), signature, id, position, number, project, time, received, event_id, client_id,
                                       environment, release, user_hash, user, toInt8(level), server, transaction, trace_id, tags))
FROM occurrences
WHERE book != 'checkpoint' AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
  AND cityHash64(book, signature, id) NOT IN
  (
      SELECT cityHash64(book, signature, id)
      FROM deployments
      WHERE gone = 1 AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
  )
