-- Users and addresses that ran into the most problems first, in seven days. A
-- record knows those of its first sighting only.
SELECT multiIf(user_id != 0, 'user', ip != '', 'address', 'unknown') AS kind,
       multiIf(user_id != 0, toString(user_id), ip) AS who,
       count() AS problems, sum(count) AS occurrences, max(last_seen) AS last
FROM records
WHERE last_seen >= now() - INTERVAL 7 DAY
GROUP BY kind, who
ORDER BY problems DESC, occurrences DESC, who
LIMIT 20
