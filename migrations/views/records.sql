CREATE OR REPLACE VIEW {{.Views}}.records
(
    id              UInt64 COMMENT 'the id of the API; a signature that was deleted and seen again has a new one',
    signature       String COMMENT 'what the problem is known by: 32 hexadecimal digits',
    type            String COMMENT '`system` or `database`',
    level           Enum8('' = 0, 'debug' = 1, 'info' = 2, 'notice' = 3, 'warning' = 4, 'error' = 5, 'critical' = 6, 'fatal' = 7) COMMENT 'the highest so far; compares by severity: `level >= ''error''`',
    count           UInt64 COMMENT 'occurrences, exactly',
    first_seen      DateTime64(3, 'UTC') COMMENT 'the first occurrence, by the application''s clock',
    last_seen       DateTime64(3, 'UTC') COMMENT 'the last occurrence, by the application''s clock',
    file            String COMMENT 'where it was thrown, relative to the install root',
    line            UInt32 COMMENT 'the line in that file; 0 when unknown',
    message_preview String COMMENT 'the message of the first sighting, cut and scrubbed',
    exception_class String COMMENT 'the class of what was thrown; empty for a plain message',
    request_uri     String COMMENT 'the request of the first sighting, without the values of its query',
    request_method  String COMMENT 'its method; empty outside of requests',
    user_id         Int64 COMMENT 'its user; 0 when unknown',
    ip              String COMMENT 'its client, as `192.0.2.7` or `2001:db8::7`; empty when unknown',
    status          Enum8('open' = 0, 'resolved' = 1, 'muted' = 2) COMMENT 'what people made of it: `open`, `resolved` or `muted`',
    regressed       Bool COMMENT 'it was resolved and has come back since',
    overflow        Bool COMMENT 'it counts the new problems of its class for which the project had no new records left in an hour',
    project         UInt64 COMMENT 'the number of its project; 0 when unknown',
    environments    Array(String) COMMENT 'where it was seen, the latest first; at most 20',
    releases        Array(String) COMMENT 'by which releases, the latest first; at most 200'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    id, lower(hex(signature)) AS signature, toString(book) AS type, level, count, first_seen, last_seen,
    file, line, message_preview, exception_class, request_uri, request_method, user_id,
    if(ip = toIPv6('::'), '', replaceRegexpOne(toString(ip), '^::ffff:([0-9.]+)$', '\\1')) AS ip,
    status, regressed, toBool(startsWith(r.signature, 'overflow')) AS overflow,
    project, environments, releases
FROM {{.Tables}}.records AS r FINAL
WHERE book != 'checkpoint'
COMMENT 'One row for each problem.'
