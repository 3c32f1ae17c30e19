-- New problems of the last 30 days by the release in which they were first
-- seen, where the application says its release; in native events that is a field
-- of the payload.
SELECT p.release AS release, count() AS problems, countIf(r.level >= 'critical') AS grave,
       sum(r.count) AS occurrences, min(r.first_seen) AS since
FROM records AS r
INNER JOIN
(
    SELECT type, signature, record_id,
           if(JSONHas(payload, 'release'), JSONExtractString(payload, 'release'), JSONExtractString(payload, 'extra', 'release')) AS release
    FROM payloads
    WHERE release != ''
) AS p ON p.type = r.type AND p.signature = r.signature AND p.record_id = r.id
WHERE r.first_seen >= now() - INTERVAL 30 DAY
GROUP BY release
ORDER BY since DESC, release
LIMIT 20
