-- The records that a chunk of a cleanup removes. FINAL is applied before
-- WHERE, so that a state which is cancelled is not taken for the record.
SELECT book, signature, id, version, count, first_seen, last_seen, level, file, line, message_preview,
       exception_class, request_uri, request_method, user_id, ip, status, regressed
FROM records FINAL
WHERE book IN ('system', 'database')
  AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
  AND last_seen <= fromUnixTimestamp64Milli({before:Int64})
ORDER BY book, signature
