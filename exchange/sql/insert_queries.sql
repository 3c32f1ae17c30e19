INSERT INTO query_log
(
    log, sequence, entry, project, time, received, duration_ms, error, request_id, user_id, ip, expires,
    query, rows, connection, file, line
)
