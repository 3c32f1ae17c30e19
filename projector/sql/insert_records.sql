INSERT INTO records
(
    book, signature, id, version, count, first_seen, last_seen, level, file, line, message_preview,
    exception_class, request_uri, request_method, user_id, ip, status, regressed, checkpoint, sign,
    project, environments, releases, noise
)
