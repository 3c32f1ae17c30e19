-- Each release that was first seen in the last seven days: occurrences in its
-- environment in the hour before that and in the hour after, and how many of their
-- problems the environment had never had before.
SELECT d.environment AS environment, d.release AS release, any(d.deployed) AS since,
       countIf(o.time < d.deployed) AS hour_before, countIf(o.time >= d.deployed) AS hour_after,
       uniqExactIf((o.type, o.signature, o.record_id), p.first_seen >= d.deployed) AS new_problems
FROM
(
    SELECT environment, release, min(first_seen) AS deployed
    FROM deployments
    WHERE release != ''
    GROUP BY environment, release
    HAVING deployed >= now() - INTERVAL 7 DAY
) AS d
INNER JOIN occurrences AS o ON o.environment = d.environment
INNER JOIN
(
    SELECT environment, type, signature, record_id, min(first_seen) AS first_seen
    FROM deployments
    GROUP BY environment, type, signature, record_id
) AS p ON p.environment = o.environment AND p.type = o.type AND p.signature = o.signature AND p.record_id = o.record_id
WHERE o.time >= now() - INTERVAL 8 DAY AND o.time BETWEEN d.deployed - INTERVAL 1 HOUR AND d.deployed + INTERVAL 1 HOUR
GROUP BY d.environment, d.release
ORDER BY since DESC, environment, release
LIMIT 20
