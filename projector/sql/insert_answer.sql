INSERT INTO answers (sequence, shard, answer) VALUES ({sequence:UInt64}, {shard:UInt16}, {answer:String})
