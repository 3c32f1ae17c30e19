-- How many events were counted in a rollup: each insert has their number in the row
-- of its checkpoint, which is in the same part and is never dropped by age.
SELECT sum(count) FROM {table:Identifier} WHERE book = 'checkpoint' AND signature = unhex({shard:String})
