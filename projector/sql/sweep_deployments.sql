-- Marks the deployments of the records that a cleanup removes. A record that is newer
-- than the cleanup keeps its own: a projector that slept may run this late.
INSERT INTO deployments (book, signature, id, gone, sequence)
SELECT book, signature, id, 1 AS gone, {sequence:UInt64} AS sequence
FROM records FINAL
WHERE book IN ('system', 'database')
  AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
  AND last_seen <= fromUnixTimestamp64Milli({before:Int64})
  AND (empty({projects:Array(UInt64)}) OR has({projects:Array(UInt64)}, project))
  AND id < {until:UInt64}
SETTINGS use_skip_indexes = 0
