CREATE OR REPLACE VIEW {{.Views}}.payloads
(
    signature String COMMENT 'as in `records`',
    type      String COMMENT 'as in `records`',
    record_id UInt64 COMMENT 'the `id` of the record',
    payload   String COMMENT 'JSON of the first sighting: stack, request, tags; scrubbed'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    lower(hex(signature)) AS signature, toString(book) AS type, id AS record_id, payload
FROM {{.Tables}}.contexts FINAL
WHERE book != 'checkpoint' AND gone = 0
COMMENT 'The context in which each problem was first seen.'
