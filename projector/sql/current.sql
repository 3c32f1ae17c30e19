-- The current state of the records in the external table wanted(book, signature),
-- and with them the checkpoint.
-- sign ASC puts the row that cancels a deleted state before the state.
-- Each key opens a granule of 64 rows in every column, so the query reads few
-- columns. From 64 keys on, two threads share the work: with all columns, 3,000 keys
-- of 10 M records took 256 ms instead of 423.
SELECT book, version, whole
FROM
(
    SELECT book, signature, version, sign, whole
    FROM records
    WHERE (book, signature) IN (SELECT book, signature FROM wanted)
    ORDER BY book, signature, version DESC, sign ASC
    LIMIT 1 BY book, signature
)
WHERE sign = 1
SETTINGS use_skip_indexes = 0, max_threads = 2, merge_tree_min_rows_for_concurrent_read = 4096
