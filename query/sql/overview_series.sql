SELECT toInt8(book) AS book_number, toString(level) AS level_name,
    intDiv(toInt64(toUnixTimestamp(hour)) - {from:Int64}, {step:Int64}) AS bucket, sum(count) AS events
FROM hourly
WHERE book != 'checkpoint'
    AND hour >= fromUnixTimestamp({from:Int64}) AND hour < fromUnixTimestamp({to:Int64})
GROUP BY book, level, bucket
ORDER BY book, level DESC, bucket
