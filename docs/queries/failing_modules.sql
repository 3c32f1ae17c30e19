-- Calls between the application and other systems that failed in the last 24
-- hours, by module and host, from module_log.
SELECT module, direction, domainWithoutWWW(target) AS host, count() AS calls, countIf(error != '') AS failed,
       round(100 * failed / calls, 1) AS percent, argMaxIf(error, time, error != '') AS last_error,
       round(quantile(0.99)(duration_ms), 1) AS p99_ms
FROM module_log
WHERE time >= now() - INTERVAL 24 HOUR
GROUP BY module, direction, host
HAVING failed > 0
ORDER BY failed DESC, module, host
LIMIT 50
