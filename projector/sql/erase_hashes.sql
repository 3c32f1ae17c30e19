-- The hashes of persons: where the user was not kept, only they tell whose an occurrence
-- is. Those of records that are gone are left out: they may be on the disk or not.
SELECT DISTINCT user_hash
FROM occurrences
WHERE book != 'checkpoint' AND position < {until:UInt64} AND user_hash != 0 AND has({users:Array(String)}, user)
  AND (book, signature, id) IN (SELECT book, signature, id FROM records FINAL WHERE book != 'checkpoint')
SETTINGS use_skip_indexes = 0
