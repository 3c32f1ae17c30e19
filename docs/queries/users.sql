-- Users and addresses with the most problems of the last seven days. A record has
-- only the user and the address of its first sighting.
SELECT multiIf(user_id != 0, 'user', ip != '', 'address', 'unknown') AS kind,
       multiIf(user_id != 0, toString(user_id), ip) AS who,
       count() AS problems, sum(count) AS occurrences, max(last_seen) AS last
FROM records
WHERE last_seen >= now() - INTERVAL 7 DAY
GROUP BY kind, who
ORDER BY problems DESC, occurrences DESC, who
LIMIT 20
