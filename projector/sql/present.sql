-- All keys that have rows in a range of signatures, also rows that the next merge
-- removes. The signatures come as two halves in a few long arrays, which are many times
-- faster than millions of short rows. (toString would cut off the zero bytes at the end of
-- a FixedString.)
SELECT book,
       groupArray(reinterpretAsUInt64(substring(signature, 1, 8))) AS front,
       groupArray(reinterpretAsUInt64(substring(signature, 9, 8))) AS back
FROM records
WHERE book != 'checkpoint' AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
GROUP BY book
SETTINGS max_threads = 2
