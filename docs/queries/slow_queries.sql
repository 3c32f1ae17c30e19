-- The queries with the largest total time in the last 24 hours, from query_log.
SELECT query, count() AS times, round(sum(duration_ms)) AS total_ms,
       round(quantile(0.5)(duration_ms), 1) AS median_ms, round(quantile(0.99)(duration_ms), 1) AS p99_ms,
       max(rows) AS most_rows, countIf(error != '') AS failed,
       any(file) AS a_file, any(line) AS a_line
FROM query_log
WHERE time >= now() - INTERVAL 24 HOUR
GROUP BY query
ORDER BY total_ms DESC, query
LIMIT 50
