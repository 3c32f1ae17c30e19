-- How many records a chunk of a cleanup removes. The rows of a state that is
-- cancelled add up to nothing.
SELECT toString(book), sum(sign)
FROM records
WHERE book IN ('system', 'database')
  AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
  AND last_seen <= fromUnixTimestamp64Milli({before:Int64})
GROUP BY book
SETTINGS use_skip_indexes = 0
