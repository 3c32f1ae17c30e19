-- How many events the hours hold: each insert says so in the row of its checkpoint,
-- which stands in the same part and never leaves by its age.
SELECT sum(count) FROM hourly WHERE book = 'checkpoint' AND signature = unhex({shard:String})
