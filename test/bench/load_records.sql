-- The records of the occurrences.
INSERT INTO records (book, signature, id, version, count, first_seen, last_seen, level, file, line, message_preview,
    exception_class, request_uri, request_method, user_id, ip, status, regressed, checkpoint, sign, project, environments, releases)
SELECT book, signature, id, max(position), count(), min(time), max(time), 'error', 'src/Order.php', 51, concat('order ', toString(id), ' failed'),
    'OrderError', '/orders', 'GET', 7, toIPv6('203.0.113.9'), 'open', false, '', 1, any(project), groupUniqArray(3)(toString(environment)), groupUniqArray(3)(toString(release))
FROM occurrences
WHERE book > 'checkpoint'
GROUP BY book, signature, id
SETTINGS max_threads = 1, max_bytes_before_external_group_by = 300000000
