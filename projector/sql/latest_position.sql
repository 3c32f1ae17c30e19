-- Which event of a record has its context here.
SELECT max(position)
FROM latest_contexts
WHERE book = {book:String} AND signature = toFixedString(unhex({signature:String}), 16) AND id = {id:UInt64}
