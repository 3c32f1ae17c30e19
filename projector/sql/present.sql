-- All keys that have rows, live or not yet merged away, as two halves of the
-- signature: a few long arrays travel many times faster than millions of short
-- rows. (toString would cut a FixedString's trailing zero bytes.)
SELECT book,
       groupArray(reinterpretAsUInt64(substring(signature, 1, 8))) AS front,
       groupArray(reinterpretAsUInt64(substring(signature, 9, 8))) AS back
FROM records
WHERE book != 'checkpoint'
GROUP BY book, substring(signature, 1, 1)
SETTINGS max_threads = 2
