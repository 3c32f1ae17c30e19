INSERT INTO module_log
(
    log, sequence, entry, project, time, received, duration_ms, error, request_id, user_id, ip, expires,
    module, direction, action, target, status, request, response
)
