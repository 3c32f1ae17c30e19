-- Exception classes: how many problems and occurrences, how many still open.
SELECT exception_class, count() AS problems, sum(count) AS occurrences, countIf(status = 'open') AS open,
       max(level) AS worst, max(last_seen) AS last
FROM records
GROUP BY exception_class
ORDER BY occurrences DESC, exception_class
LIMIT 50
