-- Releases of the last 30 days with the largest share of grave occurrences (critical or
-- fatal), and how many users those hit.
SELECT release, count() AS occurrences, countIf(level >= 'critical') AS grave,
       round(100 * grave / occurrences, 1) AS percent,
       uniqExactIf(user_hash, level >= 'critical' AND user_hash != 0) AS users,
       uniqExactIf((type, signature, record_id), level >= 'critical') AS problems
FROM occurrences
WHERE time >= now() - INTERVAL 30 DAY AND release != ''
GROUP BY release
ORDER BY percent DESC, grave DESC, release
LIMIT 20
