CREATE OR REPLACE VIEW {{.Views}}.module_log
(
    project     UInt64 COMMENT 'the project of the key that sent it',
    time        DateTime64(3, 'UTC') COMMENT 'when it happened, by the application',
    received    DateTime64(3, 'UTC') COMMENT 'when Errata took it',
    module      String COMMENT 'the part of the application',
    direction   Enum8('' = 0, 'in' = 1, 'out' = 2) COMMENT '`in`: it was called; `out`: it called',
    action      String COMMENT 'what it did',
    target      String COMMENT 'who was called: URL without values, or host',
    status      String COMMENT 'what came of it, as the application said',
    duration_ms Float64 COMMENT 'milliseconds; 0 when unknown',
    request     String COMMENT 'what was sent; scrubbed, cut at 16 KiB',
    response    String COMMENT 'what was answered; scrubbed, cut at 16 KiB',
    error       String COMMENT 'what went wrong; empty when nothing did',
    request_id  String COMMENT 'the application''s id of the request, the same in `query_log`',
    user_id     Int64 COMMENT '0 when unknown',
    ip          String COMMENT 'as in `records`',
    expires     DateTime('UTC') COMMENT 'when the row goes'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    project, time, received, module, direction, action, target, status, duration_ms,
    request, response, error, request_id, user_id,
    if(ip = toIPv6('::'), '', replaceRegexpOne(toString(ip), '^::ffff:([0-9.]+)$', '\\1')) AS ip,
    expires
FROM {{.Tables}}.module_log FINAL
COMMENT 'What applications exchanged with other systems, while that log is on.'
