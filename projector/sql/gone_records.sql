-- How many records were removed by facts in a range.
SELECT count()
FROM deployments
WHERE gone = 1 AND sequence > {after:UInt64} AND sequence <= {to:UInt64}
SETTINGS max_threads = 1
