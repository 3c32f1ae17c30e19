-- Problems that were first seen in the last 24 hours, the most severe first.
SELECT first_seen, signature, type, level, count, exception_class, file, line, message_preview
FROM records
WHERE first_seen >= now() - INTERVAL 24 HOUR
ORDER BY level DESC, count DESC, signature
LIMIT 100
