-- All keys that have rows, live or not yet merged away, 65,536 to a string: a
-- few long strings travel many times faster than millions of short rows.
SELECT book, arrayStringConcat(groupArray(toString(signature))) AS signatures
FROM records
WHERE book != 'checkpoint'
GROUP BY book, substring(signature, 1, 1)
SETTINGS max_threads = 2
