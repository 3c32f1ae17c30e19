CREATE OR REPLACE VIEW {{.Views}}.occurrences
(
    time        DateTime64(3, 'UTC') COMMENT 'when it happened, by the application''s clock',
    received    DateTime64(3, 'UTC') COMMENT 'when Errata took it',
    project     UInt64 COMMENT 'as in `records`',
    type        String COMMENT 'as in `records`',
    signature   String COMMENT 'as in `records`',
    record_id   UInt64 COMMENT 'the `id` of the record',
    number      UInt64 COMMENT 'counts the occurrences of the record from 1, along the log',
    position    UInt64 COMMENT 'the place of the event on the log',
    event_id    String COMMENT 'the id that the client gave the event, else the one under which it counts',
    environment String COMMENT 'where it ran; empty when unknown',
    release     String COMMENT 'what ran; empty when unknown',
    user        String COMMENT 'the user as the client named it; empty when there was none, or when the project keeps no users',
    user_hash   UInt64 COMMENT 'the same for each occurrence of a user, to count users; 0 when there was none',
    level       Enum8('' = 0, 'debug' = 1, 'info' = 2, 'notice' = 3, 'warning' = 4, 'error' = 5, 'critical' = 6, 'fatal' = 7) COMMENT 'the level of this occurrence; compares by severity',
    server      String COMMENT 'the machine that it ran on',
    transaction String COMMENT 'the part of the application, such as a route or a job',
    trace_id    String COMMENT 'the trace that it belongs to',
    tags        Map(String, String) COMMENT 'the sender''s tags: `tags[''browser'']`'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    time, received, project, toString(book) AS type, lower(hex(signature)) AS signature, id AS record_id, number, position,
    if(client_id = '', lower(hex(event_id)), client_id) AS event_id,
    environment, release, user, user_hash, level, server, transaction,
    if(length(trace_id) = 16 AND NOT match(trace_id, '^[0-9A-Za-z_.:-]*$'), lower(hex(trace_id)), trace_id) AS trace_id,
    CAST(arrayMap(tag -> (substringIndex(tag, '\t', 1), substring(tag, position(tag, '\t') + 1)), tags), 'Map(String, String)') AS tags
FROM {{.Tables}}.occurrences AS o
WHERE book != 'checkpoint' AND (o.book, o.signature, o.id) NOT IN
(
    SELECT book, signature, id
    FROM {{.Tables}}.deployments
    WHERE gone = 1
)
COMMENT 'Every single event behind the problems, for as long as its project keeps them.'
