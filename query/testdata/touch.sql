-- One batch of the projector: about 1,000 of the records are seen again.
INSERT INTO records
    (book, signature, id, version, count, first_seen, last_seen, level, file, line, message_preview,
    exception_class, request_uri, request_method, user_id, ip, status, regressed, checkpoint, sign,
    project, environments, releases)
WITH arrayJoin([-1, 1]) AS new_sign
SELECT
    book, signature, id,
    if(new_sign = 1, ({records:UInt64} + 1 + {batch:UInt64}) * 1000000000 + rowNumberInAllBlocks(), version) AS version,
    count + (new_sign = 1) AS count,
    first_seen,
    if(new_sign = 1, fromUnixTimestamp64Milli(toInt64(1795219200000 + {batch:UInt64} * 2000 + cityHash64(id) % 1000), 'UTC'), last_seen) AS last_seen,
    level, file, line, message_preview, exception_class, request_uri, request_method, user_id, ip, status, regressed, checkpoint,
    new_sign AS sign, project, environments, releases
FROM
(
    SELECT *
    FROM records FINAL
    WHERE book != 'checkpoint' AND cityHash64(id, {batch:UInt64} % 5) % {records:UInt64} < 1000
)
