-- The problems with the most occurrences in the last seven days.
SELECT r.signature, r.level, r.exception_class, r.file, r.line, r.message_preview, r.status,
       n.week, round(100 * n.week / n.of_all, 1) AS percent
FROM records AS r
INNER JOIN
(
    SELECT type, signature, record_id, sum(occurrences) AS week, sum(week) OVER () AS of_all
    FROM occurrences_hourly
    WHERE hour >= toStartOfHour(now()) - INTERVAL 7 DAY
    GROUP BY type, signature, record_id
    ORDER BY week DESC
    LIMIT 20
) AS n ON n.type = r.type AND n.signature = r.signature AND n.record_id = r.id
ORDER BY n.week DESC, r.signature
