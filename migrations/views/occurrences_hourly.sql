CREATE OR REPLACE VIEW {{.Views}}.occurrences_hourly
(
    hour        DateTime('UTC') COMMENT 'the beginning of the hour in which they happened, by the application''s clock',
    type        String COMMENT 'as in `records`',
    signature   String COMMENT 'as in `records`',
    record_id   UInt64 COMMENT 'the `id` of the record; it is in `records` unless it was deleted',
    level       Enum8('' = 0, 'debug' = 1, 'info' = 2, 'notice' = 3, 'warning' = 4, 'error' = 5, 'critical' = 6, 'fatal' = 7) COMMENT 'the level of these occurrences',
    occurrences UInt64 COMMENT 'how many',
    project     UInt64 COMMENT 'as in `records`'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    hour, toString(book) AS type, lower(hex(signature)) AS signature, id AS record_id, level, count AS occurrences, project
FROM {{.Tables}}.hourly FINAL
WHERE book != 'checkpoint'
COMMENT 'How often each problem happened in each hour, for 400 days.'
