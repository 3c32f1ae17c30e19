SYSTEM START MERGES {table:Identifier}
