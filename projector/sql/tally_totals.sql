-- The number of records and the sum of their counts, over all rows. A row that cancels nothing
-- makes the sum too small.
SELECT toUInt64(sum(sign)), toUInt64(sum(toInt64(count) * sign))
FROM records
WHERE book != 'checkpoint'
