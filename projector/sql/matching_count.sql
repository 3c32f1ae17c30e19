-- How many records a command over a filter changes.
SELECT count()
FROM records FINAL
WHERE book IN ('system', 'database')
  AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
  AND {{.}}
SETTINGS use_skip_indexes = 0
