-- Settings here and beside it: by the primary key alone. The skip indexes are for
-- lists; one that covers every granule costs more than it saves.
SELECT version, count, checkpoint, sign
FROM records
WHERE book = 'checkpoint' AND signature = unhex({shard:String})
ORDER BY version DESC, sign ASC
LIMIT 1
SETTINGS use_skip_indexes = 0
