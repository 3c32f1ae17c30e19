-- The records in a range of signatures. The column whole holds all others, and is read in a
-- third of the time. It is empty in a row that cancels another: which one that is, its id and
-- version say, which are also the 18th to 33rd bytes of whole. A row and the one that cancels it
-- stay side by side until a merge; to leave out the first takes half of what FINAL does.
SELECT count(), groupBitXor(cityHash64(whole))
FROM records
WHERE signature BETWEEN unhex({first:String}) AND unhex({last:String})
  AND whole != ''
  AND reinterpretAsUInt128(substring(whole, 18, 16)) NOT IN
  (
      SELECT reinterpretAsUInt128(concat(reinterpretAsFixedString(id), reinterpretAsFixedString(version)))
      FROM records
      PREWHERE sign = -1
      WHERE book != 'checkpoint' AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
  )
