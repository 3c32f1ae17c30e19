SELECT position
FROM occurrences
WHERE book = {book:String}
    AND signature = toFixedString(unhex({signature:String}), 16)
    AND id = {id:UInt64}
    AND number <= {count:UInt64}
    AND {{index .Filters 0}}
ORDER BY position
LIMIT 1
