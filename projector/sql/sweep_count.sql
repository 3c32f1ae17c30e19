-- How many records a chunk of a cleanup removes, and the sum of their counts. A state
-- and the row that cancels it add up to 0. No
-- projects means all.
SELECT toString(book), sum(sign), sum(toInt64(count) * sign)
FROM records
WHERE book IN ('system', 'database')
  AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
  AND last_seen <= fromUnixTimestamp64Milli({before:Int64})
  AND (empty({projects:Array(UInt64)}) OR has({projects:Array(UInt64)}, project))
GROUP BY book
SETTINGS use_skip_indexes = 0
