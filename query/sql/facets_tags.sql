SELECT tag, count() AS seen
FROM occurrences
ARRAY JOIN tags AS tag
WHERE book = {book:String}
    AND signature = toFixedString(unhex({signature:String}), 16)
    AND id = {id:UInt64}
    AND number > {before:UInt64}
GROUP BY tag
ORDER BY seen DESC, tag
LIMIT {values:UInt64} BY substringIndex(tag, '\t', 1)
