SELECT
    book, signature, id, version, count, first_seen, last_seen,
    level, file, line, message_preview, exception_class,
    request_uri, request_method, user_id, ip, status, regressed,
    sign
FROM records
WHERE book = {book:String}
    AND signature = toFixedString(unhex({signature:String}), 16)
ORDER BY version DESC, sign ASC
LIMIT 1
