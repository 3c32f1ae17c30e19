-- Exception classes with their problems, their occurrences and their open problems.
SELECT exception_class, count() AS problems, sum(count) AS occurrences, countIf(status = 'open') AS open,
       max(level) AS worst, max(last_seen) AS last
FROM records
GROUP BY exception_class
ORDER BY occurrences DESC, exception_class
LIMIT 50
