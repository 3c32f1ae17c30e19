CREATE OR REPLACE VIEW {{.Views}}.deployments
(
    project     UInt64 COMMENT 'as in `records`',
    type        String COMMENT 'as in `records`',
    signature   String COMMENT 'as in `records`',
    record_id   UInt64 COMMENT 'the `id` of the record',
    environment String COMMENT 'where it ran; empty when unknown, `(other)` for all after the first 20 of the record',
    release     String COMMENT 'what ran; empty when unknown, `(other)` for all after the first 200 of the record',
    occurrences UInt64 COMMENT 'how many',
    first_seen  DateTime64(3, 'UTC') COMMENT 'the first of them, by the application''s clock',
    last_seen   DateTime64(3, 'UTC') COMMENT 'the last of them, by the application''s clock'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    project, toString(book) AS type, lower(hex(signature)) AS signature, id AS record_id,
    environment, release, count AS occurrences, first_seen, last_seen
FROM {{.Tables}}.deployments AS d FINAL
WHERE book != 'checkpoint' AND (d.book, d.signature, d.id) NOT IN
(
    SELECT book, signature, id
    FROM {{.Tables}}.deployments
    WHERE gone = 1
)
COMMENT 'How often each problem happened in each environment and release, for ever.'
