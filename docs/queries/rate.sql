-- Errors by hour and level in the last 24 hours, with a row for each hour.
SELECT hour,
       sumIf(occurrences, level = 'fatal') AS fatal,
       sumIf(occurrences, level = 'critical') AS critical,
       sumIf(occurrences, level = 'error') AS error,
       sumIf(occurrences, level = 'warning') AS warning,
       sumIf(occurrences, level < 'warning') AS below,
       sum(occurrences) AS total
FROM occurrences_hourly
WHERE hour >= toStartOfHour(now()) - INTERVAL 23 HOUR
GROUP BY hour
ORDER BY hour WITH FILL FROM toStartOfHour(now()) - INTERVAL 23 HOUR TO toStartOfHour(now()) + INTERVAL 1 HOUR STEP INTERVAL 1 HOUR
