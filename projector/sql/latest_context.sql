-- The context of the latest event that was purged from the log. Earlier ones stand beside
-- it until a merge.
SELECT position, payload
FROM latest_contexts
WHERE book = {book:String} AND signature = toFixedString(unhex({signature:String}), 16) AND id = {id:UInt64}
ORDER BY position DESC
LIMIT 1
