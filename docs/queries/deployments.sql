-- Environments with their problems and occurrences, and the release that was last
-- seen in each.
SELECT environment, uniqExact(type, signature, record_id) AS problems, sum(occurrences) AS times,
       countIf(first_seen >= now() - INTERVAL 24 HOUR) AS new_in_a_day,
       argMax(release, last_seen) AS last_release, max(last_seen) AS last
FROM deployments
GROUP BY environment
ORDER BY times DESC, environment
LIMIT 50
