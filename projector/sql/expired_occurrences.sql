-- Which projects have occurrences received before a time.
SELECT arraySort(groupUniqArray(project))
FROM occurrences
WHERE book != 'checkpoint' AND has({projects:Array(UInt64)}, project) AND received < fromUnixTimestamp64Milli({before:Int64})
SETTINGS use_skip_indexes = 0
