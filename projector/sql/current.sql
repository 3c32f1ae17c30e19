-- The current state of the records in the external table wanted(book, signature),
-- and with them the checkpoint.
-- sign ASC puts the cancelling row of a deleted state in front of the state.
SELECT book, signature, id, version, count, first_seen, last_seen, level, file, line, message_preview,
       exception_class, request_uri, request_method, user_id, ip, status, regressed
FROM
(
    SELECT *
    FROM records
    WHERE (book, signature) IN (SELECT book, signature FROM wanted)
    ORDER BY book, signature, version DESC, sign ASC
    LIMIT 1 BY book, signature
)
WHERE sign = 1
SETTINGS use_skip_indexes = 0
