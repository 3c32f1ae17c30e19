-- The number of records and the sum of their counts.
SELECT toUInt64(sum(sign)), toUInt64(sum(toInt64(count) * sign))
FROM records
WHERE book != 'checkpoint'
