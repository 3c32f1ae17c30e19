-- The events that a rule with a frequency has to remember: those of the last minutes behind
-- the last one with which it has fired for its frequency, by record and minute: of all
-- records in a range of signatures that have had enough events, which few have, or of those
-- with the signatures.
SELECT toString(book), signature, o.id, intDiv(toUnixTimestamp64Milli(received), 60000) AS minute, count(),
    groupUniqArrayIf({most:UInt32})(user_hash, {users:Bool} AND user_hash != 0)
FROM occurrences AS o
LEFT ANY JOIN
(
    SELECT id, max(position) AS at
    FROM firings
    WHERE book != 'checkpoint' AND rule = {rule:String} AND cause = 'frequency' AND position < {until:UInt64}
    GROUP BY id
) AS f ON o.id = f.id
WHERE book != 'checkpoint' AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
  AND position < {until:UInt64} AND position > f.at
  AND (empty({signatures:Array(String)}) OR signature IN (SELECT arrayJoin(arrayMap(digits -> toFixedString(unhex(digits), 16), {signatures:Array(String)}))))
  AND (NOT {all:Bool} OR o.id IN
  (
      SELECT id
      FROM records
      WHERE {all:Bool} AND book != 'checkpoint' AND signature BETWEEN unhex({first:String}) AND unhex({last:String}) AND count >= {least:UInt64}
  ))
  AND received >= fromUnixTimestamp64Milli({since:Int64} * 60000, 'UTC')
  AND (empty({books:Array(String)}) OR has({books:Array(String)}, toString(book)))
  AND (empty({projects:Array(UInt64)}) OR has({projects:Array(UInt64)}, project))
  AND (empty({environments:Array(String)}) OR has({environments:Array(String)}, toString(environment)))
  AND (empty({levels:Array(String)}) OR has({levels:Array(String)}, toString(level)))
GROUP BY book, signature, o.id, minute
SETTINGS use_index_for_in_with_subqueries_max_values = 100000
