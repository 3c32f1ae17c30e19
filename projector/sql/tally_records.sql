-- The number of records, the sum of their counts, and a checksum. XOR needs no order. It
-- needs no FINAL either: a row and the row that cancels it have the same hash.
-- Without levels or dimensions the checksum leaves out what an older version of the
-- fold saw otherwise.
SELECT toUInt64(sum(sign)), toUInt64(sum(toInt64(count) * sign)),
       groupBitXor(cityHash64(toInt8(book), signature, id, version, count, first_seen, last_seen, if({levels:Bool}, toInt8(level), toInt8(0)), file, line, message_preview,
                              exception_class, request_uri, request_method, user_id, ip, toInt8(status), regressed,
                              if({dimensions:Bool}, project, 0), if({dimensions:Bool}, environments, []), if({dimensions:Bool}, releases, []), if({dimensions:Bool}, noise, false)))
FROM records
WHERE book != 'checkpoint'
