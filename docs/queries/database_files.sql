-- Files of the application that the most database errors come from.
SELECT file, count() AS problems, sum(count) AS occurrences, uniqExact(exception_class) AS classes,
       argMax(message_preview, last_seen) AS last_message, max(last_seen) AS last
FROM records
WHERE type = 'database'
GROUP BY file
ORDER BY occurrences DESC, file
LIMIT 50
