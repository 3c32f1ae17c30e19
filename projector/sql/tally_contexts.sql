-- The contexts of a range of signatures, without those that were emptied. Rows of the same key
-- are repeats until a merge. Grouping by a hash takes half of what FINAL does.
SELECT count(), groupBitXor(hash)
FROM
(
    SELECT any(cityHash64(toInt8(book), signature, id, payload)) AS hash
    FROM contexts
    WHERE signature BETWEEN unhex({first:String}) AND unhex({last:String})
    GROUP BY cityHash64(book, signature, id)
    HAVING max(gone) = 0
)
