INSERT INTO query_log
(
    log, sequence, index, project, time, received, duration_ms, error, request_id, user_id, ip, expires,
    query, rows, connection, file, line
)
