-- Removes the records of a chunk of a cleanup, and moves the checkpoint, as one block.
-- FINAL is applied before WHERE, so that a cancelled state does not count as the
-- record.
--
-- The row of the current checkpoint is read with the records and becomes up to three
-- rows: 'from' cancels it, 'to' is the next checkpoint, 'answer' is the answer to the
-- command, with its last chunk. So the rows have one source, and the sort puts all of
-- them into one block. This is needed because the token of an insert from a select
-- counts the blocks of its source: only with one block it is a compare-and-set.
INSERT INTO records
(
    book, signature, id, version, count, first_seen, last_seen, level, file, line, message_preview,
    exception_class, request_uri, request_method, user_id, ip, status, regressed, checkpoint, sign,
    project, environments, releases, noise
)
SELECT
    book,
    if(role = 'answer', toFixedString(unhex({answer_key:String}), 16), signature) AS signature,
    id,
    multiIf(role = 'to', {to_row:UInt64}, role = 'answer', {answer_sequence:UInt64}, version) AS version,
    multiIf(role = 'to', {to_count:UInt64}, role = 'answer', 0, count) AS count,
    first_seen, last_seen, level, file, line, message_preview,
    exception_class, request_uri, request_method, user_id, ip, status, regressed,
    multiIf(role = 'to', unhex({to_text:String}), role = 'answer', unhex({answer_text:String}), checkpoint) AS checkpoint,
    if(role IN ('to', 'answer'), 1, -1)::Int8 AS sign,
    project, environments, releases, noise
FROM
(
    SELECT *
    FROM records FINAL
    WHERE book IN ('system', 'database')
          AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
          AND last_seen <= fromUnixTimestamp64Milli({before:Int64})
          AND (empty({projects:Array(UInt64)}) OR has({projects:Array(UInt64)}, project))
       OR book = 'checkpoint' AND signature = unhex({shard:String})
)
ARRAY JOIN if(book = 'checkpoint', if({answer_key:String} = '', ['from', 'to'], ['from', 'to', 'answer']), ['record']) AS role
ORDER BY book, signature, version, sign
SETTINGS use_skip_indexes = 0
