-- Removes the contexts that come from persons or name their addresses.
DELETE FROM latest_contexts
WHERE position < {until:UInt64}
  AND (has({users:Array(String)}, user) OR has({users:Array(String)}, JSONExtractString(payload, 'user'))
       OR has({addresses:Array(IPv6)}, ip) OR match(payload, {pattern:String}))
