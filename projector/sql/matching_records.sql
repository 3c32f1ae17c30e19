-- The records in a range of signatures that a filter selects. FINAL is applied before
-- WHERE, so that a cancelled state does not match for its record.
SELECT whole
FROM
(
    SELECT book, signature, whole
    FROM records FINAL
    WHERE book IN ('system', 'database')
      AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
      AND {{.}}
)
ORDER BY book, signature
SETTINGS use_skip_indexes = 0
