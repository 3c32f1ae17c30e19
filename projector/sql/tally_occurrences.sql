-- The occurrences of the records in a range of signatures.
SELECT count(), groupBitXor(cityHash64(toInt8(book), signature, id, position, number, project, time, received, event_id, client_id,
                                       environment, release, user_hash, user, toInt8(level), server, transaction, trace_id, tags))
FROM occurrences
WHERE book != 'checkpoint' AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
  AND (book, signature, id) IN
  (
      SELECT book, signature, id
      FROM records FINAL
      WHERE book != 'checkpoint' AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
  )
SETTINGS use_skip_indexes = 0
