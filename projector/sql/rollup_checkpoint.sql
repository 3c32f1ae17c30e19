SELECT max(sequence) FROM hourly WHERE book = 'checkpoint' AND signature = unhex({shard:String})
