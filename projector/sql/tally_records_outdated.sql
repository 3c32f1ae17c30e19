-- The number of records, the sum of their counts, and a checksum, for records that an older
-- version of the fold has made: without their projects, environments, releases and noise, and
-- without levels if it saw those otherwise. A row and the row that cancels it have the same
-- hash.
SELECT toUInt64(sum(sign)), toUInt64(sum(toInt64(count) * sign)),
       groupBitXor(cityHash64(toInt8(book), signature, id, version, count, first_seen, last_seen, if({levels:Bool}, toInt8(level), toInt8(0)), file, line, message_preview,
                              exception_class, request_uri, request_method, user_id, ip, toInt8(status), regressed))
FROM records
WHERE book != 'checkpoint'
