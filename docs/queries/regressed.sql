-- Problems that were resolved and have come back.
SELECT last_seen, signature, type, level, count, exception_class, file, line, message_preview
FROM records
WHERE regressed AND status = 'open'
ORDER BY last_seen DESC, signature
LIMIT 100
