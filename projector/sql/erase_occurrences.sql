-- Removes persons from the occurrences before the command: who it was, tags that name
-- them, and addresses in texts.
ALTER TABLE occurrences UPDATE
    user = if(has({users:Array(String)}, user) OR has({hashes:Array(UInt64)}, user_hash), '', user),
    user_hash = if(has({users:Array(String)}, user) OR has({hashes:Array(UInt64)}, user_hash), 0, user_hash),
    server = replaceRegexpAll(server, {pattern:String}, {erased:String}),
    transaction = replaceRegexpAll(transaction, {pattern:String}, {erased:String}),
    tags = arrayMap(tag -> replaceRegexpAll(tag, {pattern:String}, {erased:String}), arrayFilter(
        tag -> NOT ((has({users:Array(String)}, user) OR has({hashes:Array(UInt64)}, user_hash)) AND has({users:Array(String)}, substring(tag, position(tag, '\t') + 1))),
        tags))
WHERE book != 'checkpoint' AND position < {until:UInt64}
  AND (has({users:Array(String)}, user) OR has({hashes:Array(UInt64)}, user_hash)
       OR match(server, {pattern:String}) OR match(transaction, {pattern:String}) OR arrayExists(tag -> match(tag, {pattern:String}), tags))
