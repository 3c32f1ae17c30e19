SELECT user_hash, any(user) AS name, count() AS seen
FROM occurrences
WHERE book = {book:String}
    AND signature = toFixedString(unhex({signature:String}), 16)
    AND id = {id:UInt64}
    AND number > {before:UInt64}
    AND user_hash != 0
GROUP BY user_hash
ORDER BY seen DESC, user_hash
LIMIT {users:UInt64}
