-- The last message that is in the table, of the latest stream.
SELECT log, sequence
FROM query_log
ORDER BY log DESC, sequence DESC
LIMIT 1
