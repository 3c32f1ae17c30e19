-- The context of the first event of a record. An emptied one stands beside the full one
-- until a merge.
SELECT payload, gone
FROM contexts
WHERE book = {book:String} AND signature = toFixedString(unhex({signature:String}), 16) AND id = {id:UInt64}
ORDER BY gone DESC
LIMIT 1
