-- Removes the contexts of occurrences that projects keep no longer.
DELETE FROM latest_contexts
WHERE position < {until:UInt64} AND has({projects:Array(UInt64)}, project) AND received < fromUnixTimestamp64Milli({before:Int64})
