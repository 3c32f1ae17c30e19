CREATE OR REPLACE VIEW {{.Views}}.query_log
(
    project     UInt64 COMMENT 'the project of the key that sent it',
    time        DateTime64(3, 'UTC') COMMENT 'when it happened, by the application',
    received    DateTime64(3, 'UTC') COMMENT 'when Errata took it',
    query       String COMMENT 'with `?` for each literal, without comments, cut at 16 KiB',
    duration_ms Float64 COMMENT 'milliseconds; 0 when unknown',
    rows        UInt64 COMMENT 'rows read or changed; 0 when unknown',
    connection  String COMMENT 'the application''s name of the database',
    file        String COMMENT 'where the application asked, relative to the install root',
    line        UInt32 COMMENT 'the line in that file; 0 when unknown',
    error       String COMMENT 'what went wrong; empty when nothing did',
    request_id  String COMMENT 'the application''s id of the request, the same in `module_log`',
    user_id     Int64 COMMENT '0 when unknown',
    ip          String COMMENT 'as in `records`',
    expires     DateTime('UTC') COMMENT 'when the row goes'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    project, time, received, query, duration_ms, rows, connection, file, line, error, request_id, user_id,
    if(ip = toIPv6('::'), '', replaceRegexpOne(toString(ip), '^::ffff:([0-9.]+)$', '\\1')) AS ip,
    expires
FROM {{.Tables}}.query_log FINAL
COMMENT 'What applications asked their databases, while that log is on.'
