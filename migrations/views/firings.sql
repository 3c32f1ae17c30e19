CREATE OR REPLACE VIEW {{.Views}}.firings
(
    time        DateTime64(3, 'UTC') COMMENT 'the latest time of receipt on the log up to the event',
    rule        String COMMENT 'the `id` of the rule, as `errata alerts rules` shows it; the rule may be gone',
    cause       String COMMENT 'what fired it, as `when` of the rule names it: `new`, `regressed`, `reached`, `frequency`',
    project     UInt64 COMMENT 'as in `records`',
    type        String COMMENT 'as in `records`',
    signature   String COMMENT 'as in `records`',
    record_id   UInt64 COMMENT 'the `id` of the record; it is in `records` unless it was deleted',
    position    UInt64 COMMENT 'the place of the event on the log, as in `occurrences`',
    count       UInt64 COMMENT 'occurrences of the record with this event',
    environment String COMMENT 'where the event ran; empty when unknown',
    release     String COMMENT 'what ran; empty when unknown',
    level       Enum8('' = 0, 'debug' = 1, 'info' = 2, 'notice' = 3, 'warning' = 4, 'error' = 5, 'critical' = 6, 'fatal' = 7) COMMENT 'the level of the event'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    clock AS time, rule, cause, project, toString(book) AS type, lower(hex(signature)) AS signature, id AS record_id, position,
    number AS count, environment, release, level
FROM {{.Tables}}.firings AS f FINAL
WHERE f.book != 'checkpoint'
COMMENT 'Which events fired which rules of alerts, for 90 days.'
