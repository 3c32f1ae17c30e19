-- The hashes of persons: where the user was not kept, only they tell whose an occurrence
-- is. Those of records that are gone are left out: they may be on the disk or not. The records
-- are looked up by the signatures of these occurrences, because ClickHouse has too little memory
-- for the keys of 10 M records.
WITH theirs AS
(
    SELECT DISTINCT book, signature, id, user_hash
    FROM occurrences
    WHERE book != 'checkpoint' AND position < {until:UInt64} AND user_hash != 0 AND has({users:Array(String)}, user)
)
SELECT DISTINCT user_hash
FROM theirs
WHERE (book, signature, id) IN
(
    SELECT book, signature, id
    FROM records FINAL
    WHERE book IN ('system', 'database') AND signature IN (SELECT signature FROM theirs)
)
SETTINGS use_skip_indexes = 0
