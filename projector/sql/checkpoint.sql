-- use_skip_indexes = 0, here and in the other files: the primary key is enough. The
-- skip indexes are for lists; reading them here would cost more than it saves.
SELECT version, count, checkpoint, sign
FROM records
WHERE book = 'checkpoint' AND signature = unhex({shard:String})
ORDER BY version DESC, sign ASC
LIMIT 1
SETTINGS use_skip_indexes = 0
