SELECT max(sequence) FROM {table:Identifier} WHERE book = 'checkpoint' AND signature = unhex({shard:String})
