{{- /* The primary key takes a set from a subquery, but not from an array that was
computed: that would be looked through for every row of the table. */ -}}
SELECT
    book, signature, id, version, count, first_seen, last_seen,
    level, file, line, message_preview, exception_class,
    request_uri, request_method, user_id, ip, status, regressed
FROM records
PREWHERE book IN ('system', 'database')
    AND signature IN (SELECT arrayJoin(arrayMap(digits -> toFixedString(unhex(digits), 16), {signatures:Array(String)})))
    AND version IN {versions:Array(UInt64)}
    AND sign = 1
