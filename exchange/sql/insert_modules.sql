INSERT INTO module_log
(
    log, sequence, index, project, time, received, duration_ms, error, request_id, user_id, ip, expires,
    module, direction, action, target, status, request, response
)
