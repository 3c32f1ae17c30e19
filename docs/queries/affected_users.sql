-- Problems of the last seven days by how many users they hit. Occurrences say who was
-- hit each time, records only who was hit first.
SELECT o.type AS type, o.signature AS signature, any(r.exception_class) AS exception_class, any(r.message_preview) AS message,
       uniqExactIf(o.user_hash, o.user_hash != 0) AS users, count() AS occurrences, max(o.time) AS last
FROM occurrences AS o
INNER JOIN records AS r ON r.type = o.type AND r.signature = o.signature AND r.id = o.record_id
WHERE o.time >= now() - INTERVAL 7 DAY
GROUP BY o.type, o.signature, o.record_id
ORDER BY users DESC, occurrences DESC, signature
LIMIT 50
