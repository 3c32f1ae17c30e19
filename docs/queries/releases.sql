-- New problems of the last 30 days, by the release in which they were first seen.
-- Only problems whose first event names a release count; a native event names it in
-- a field of the payload.
SELECT if(JSONHas(p.payload, 'release'), JSONExtractString(p.payload, 'release'), JSONExtractString(p.payload, 'extra', 'release')) AS release,
       count() AS problems, countIf(r.level >= 'critical') AS grave,
       sum(r.occurrences) AS occurrences, min(r.first_seen) AS since
FROM payloads AS p
INNER JOIN
(
    SELECT type, signature, id, level, count AS occurrences, first_seen
    FROM records
    WHERE first_seen >= now() - INTERVAL 30 DAY
) AS r ON r.type = p.type AND r.signature = p.signature AND r.id = p.record_id
WHERE release != ''
GROUP BY release
ORDER BY since DESC, release
LIMIT 20
