-- How many rows of occurrences belong to records that were removed by facts in a range.
SELECT count()
FROM occurrences
WHERE (book, signature, id) IN (SELECT book, signature, id FROM deployments WHERE gone = 1 AND sequence > {after:UInt64} AND sequence <= {to:UInt64})
SETTINGS max_threads = 1
