SELECT answer FROM answers WHERE sequence = {sequence:UInt64} AND shard = {shard:UInt16} LIMIT 1
