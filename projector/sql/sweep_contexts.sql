-- Empties the contexts of the records that a cleanup removes. A record that is newer
-- than the cleanup keeps its context: a projector that slept may run this late.
INSERT INTO contexts (book, signature, id, payload, gone)
SELECT book, signature, id, '' AS payload, 1 AS gone
FROM records FINAL
WHERE book IN ('system', 'database')
  AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
  AND last_seen <= fromUnixTimestamp64Milli({before:Int64})
  AND (empty({projects:Array(UInt64)}) OR has({projects:Array(UInt64)}, project))
  AND id < {until:UInt64}
SETTINGS use_skip_indexes = 0
