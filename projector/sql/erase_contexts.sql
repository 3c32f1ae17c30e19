-- Empties the contexts of the records that an erasure has changed. Their records stay,
-- unlike those of contexts with gone = 1, so a search must know them until a merge has
-- removed the full ones.
INSERT INTO contexts (book, signature, id, payload, gone)
SELECT book, signature, id, '' AS payload, 2 AS gone
FROM records FINAL
WHERE book IN ('system', 'database')
  AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
  AND version = {version:UInt64}
SETTINGS use_skip_indexes = 0
