SELECT version, count, checkpoint, sign
FROM records
WHERE book = 'checkpoint' AND signature = unhex({shard:String})
ORDER BY version DESC, sign ASC
LIMIT 1
