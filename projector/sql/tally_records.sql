-- The number of records, the sum of their counts, and a checksum of all columns. The column
-- whole holds all of them and is read in a third of the time. It is empty in a row that cancels
-- another, so the same bytes are put together here: then both rows have the same hash, and the
-- XOR needs no FINAL. The layout is that of the migration, and never changes.
SELECT toUInt64(sum(sign)), toUInt64(sum(toInt64(count) * sign)), groupBitXor(hash)
FROM
(
    SELECT sign, count, cityHash64(whole) AS hash
    FROM records
    WHERE sign = 1 AND book != 'checkpoint'
    UNION ALL
    SELECT sign, count, cityHash64(concat(
        reinterpretAsFixedString(toUInt8(book)),
        signature,
        reinterpretAsFixedString(id),
        reinterpretAsFixedString(version),
        reinterpretAsFixedString(count),
        reinterpretAsFixedString(toUnixTimestamp64Milli(first_seen)),
        reinterpretAsFixedString(toUnixTimestamp64Milli(last_seen)),
        reinterpretAsFixedString(toUInt64(project)),
        reinterpretAsFixedString(toUInt8(level)),
        reinterpretAsFixedString(line),
        reinterpretAsFixedString(user_id),
        reinterpretAsFixedString(ip),
        reinterpretAsFixedString(toUInt8(status)),
        reinterpretAsFixedString(toUInt8(regressed)),
        reinterpretAsFixedString(toUInt8(noise)),
        reinterpretAsFixedString(toUInt32(length(file))),
        reinterpretAsFixedString(toUInt32(length(message_preview))),
        reinterpretAsFixedString(toUInt32(length(exception_class))),
        reinterpretAsFixedString(toUInt32(length(request_uri))),
        reinterpretAsFixedString(toUInt32(length(request_method))),
        file, message_preview, exception_class, request_uri, request_method,
        reinterpretAsFixedString(toUInt32(length(environments))),
        arrayStringConcat(arrayMap(name -> concat(reinterpretAsFixedString(toUInt32(length(name))), name), environments)),
        reinterpretAsFixedString(toUInt32(length(releases))),
        arrayStringConcat(arrayMap(name -> concat(reinterpretAsFixedString(toUInt32(length(name))), name), releases)))) AS hash
    FROM records
    PREWHERE sign = -1
    WHERE book != 'checkpoint'
)
