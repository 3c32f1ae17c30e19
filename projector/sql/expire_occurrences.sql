-- Removes the occurrences that projects keep no longer, of the facts before the command.
DELETE FROM occurrences
WHERE book != 'checkpoint' AND position < {until:UInt64}
  AND has({projects:Array(UInt64)}, project) AND received < fromUnixTimestamp64Milli({before:Int64})
