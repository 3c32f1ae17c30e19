-- Problems that occurred more often in the last 24 hours than in the 24 hours before.
SELECT r.signature, r.level, r.exception_class, r.file, r.line, r.message_preview, r.status, h.last_day, h.day_before
FROM records AS r
INNER JOIN
(
    SELECT type, signature, record_id,
           sumIf(occurrences, hour >= toStartOfHour(now()) - INTERVAL 23 HOUR) AS last_day,
           sumIf(occurrences, hour < toStartOfHour(now()) - INTERVAL 23 HOUR) AS day_before
    FROM occurrences_hourly
    WHERE hour >= toStartOfHour(now()) - INTERVAL 47 HOUR
    GROUP BY type, signature, record_id
    HAVING last_day > day_before
    ORDER BY last_day - day_before DESC
    LIMIT 20
) AS h ON h.type = r.type AND h.signature = r.signature AND h.record_id = r.id
ORDER BY h.last_day - h.day_before DESC, r.signature
