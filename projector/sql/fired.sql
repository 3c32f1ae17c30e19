-- When each rule has last fired for each record, up to a place on the log.
SELECT rule, id, max(toUnixTimestamp64Milli(clock))
FROM firings
WHERE book != 'checkpoint' AND position < {until:UInt64} AND clock > fromUnixTimestamp64Milli({since:Int64}, 'UTC')
GROUP BY rule, id
