-- The records that an erasure changes, and whether their first event came from the
-- person, by the columns of the record or by its context. FINAL is needed because the
-- old form of an emptied context stays in the table until a merge.
WITH
    named AS
    (
        SELECT book, signature, id
        FROM contexts FINAL
        WHERE signature BETWEEN unhex({first:String}) AND unhex({last:String})
          AND has({users:Array(String)}, JSONExtractString(payload, 'user'))
    ),
    mentioned AS
    (
        SELECT book, signature, id
        FROM contexts FINAL
        WHERE signature BETWEEN unhex({first:String}) AND unhex({last:String})
          AND match(payload, {pattern:String})
    )
SELECT whole, theirs
FROM
(
    SELECT
        book, signature, whole,
        has({ids:Array(Int64)}, user_id) OR has({addresses:Array(IPv6)}, ip) OR (book, signature, id) IN named AS theirs,
        match(message_preview, {pattern:String}) OR match(request_uri, {pattern:String})
            OR (book, signature, id) IN mentioned AS mentions
    FROM records FINAL
    WHERE book IN ('system', 'database')
      AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
)
WHERE theirs OR mentions
ORDER BY book, signature
SETTINGS use_skip_indexes = 0
