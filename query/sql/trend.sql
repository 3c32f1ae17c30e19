SELECT hour, sum(count) AS events
FROM hourly
WHERE book = {book:String}
    AND signature = toFixedString(unhex({signature:String}), 16)
    AND id = {id:UInt64}
    AND hour >= fromUnixTimestamp({from:Int64}) AND hour < fromUnixTimestamp({to:Int64})
GROUP BY hour
ORDER BY hour
