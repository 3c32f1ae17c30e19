-- Releases of the last 30 days: problems that were seen in them, those that no other
-- release had before, and occurrences.
SELECT release, count() AS problems, countIf(d.first_seen = r.first_seen) AS brought,
       countIf(r.level >= 'critical') AS grave, sum(d.times) AS occurrences, min(d.first_seen) AS since
FROM
(
    SELECT type, signature, record_id, release, sum(occurrences) AS times, min(first_seen) AS first_seen
    FROM deployments
    WHERE release != ''
    GROUP BY type, signature, record_id, release
) AS d
INNER JOIN records AS r ON r.type = d.type AND r.signature = d.signature AND r.id = d.record_id
WHERE d.first_seen >= now() - INTERVAL 30 DAY
GROUP BY release
ORDER BY since DESC, release
LIMIT 20
