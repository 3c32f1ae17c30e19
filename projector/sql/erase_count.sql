-- How many records an erasure may change: those with data of the person in
-- their columns, and those whose context names the person.
SELECT count()
FROM records FINAL
WHERE book IN ('system', 'database')
  AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
  AND (
    has({ids:Array(Int64)}, user_id)
    OR has({addresses:Array(IPv6)}, ip)
    OR match(message_preview, {pattern:String})
    OR match(request_uri, {pattern:String})
    OR (book, signature, id) IN
    (
        SELECT book, signature, id
        FROM contexts FINAL
        WHERE signature BETWEEN unhex({first:String}) AND unhex({last:String})
          AND (has({users:Array(String)}, JSONExtractString(payload, 'user')) OR match(payload, {pattern:String}))
    )
  )
SETTINGS use_skip_indexes = 0
