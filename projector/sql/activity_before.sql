-- What a rule would have counted of projects before it was made, by periods of so many
-- minutes, of records in a range of signatures. Events of records that are gone are left
-- out, because they are deleted in the background; so are those of muted and hidden
-- records, unless all are asked for.
SELECT project, intDiv(toUnixTimestamp64Milli(received), {minutes:Int64} * 60000) * {minutes:Int64} AS at, count(),
    max(intDiv(toUnixTimestamp64Milli(received), 60000)), max(position)
FROM occurrences
WHERE book != 'checkpoint' AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
  AND position < {until:UInt64} AND received >= fromUnixTimestamp64Milli({since:Int64} * 60000, 'UTC')
  AND (empty({books:Array(String)}) OR has({books:Array(String)}, toString(book)))
  AND (empty({projects:Array(UInt64)}) OR has({projects:Array(UInt64)}, project))
  AND (empty({environments:Array(String)}) OR has({environments:Array(String)}, toString(environment)))
  AND (empty({levels:Array(String)}) OR has({levels:Array(String)}, toString(level)))
  AND id IN -- no two records have the same
  (
      SELECT id
      FROM records
      WHERE book != 'checkpoint' AND signature BETWEEN unhex({first:String}) AND unhex({last:String})
        AND ({all:Bool} OR status != 'muted' AND NOT noise)
        AND (empty({signatures:Array(String)}) OR signature IN (SELECT arrayJoin(arrayMap(digits -> toFixedString(unhex(digits), 16), {signatures:Array(String)}))))
        AND ({search:String} = '' OR arrayExists(text -> position(lowerUTF8(text), {search:String}) > 0, [message_preview, exception_class, file]))
      GROUP BY id
      HAVING sum(sign) > 0
  )
GROUP BY project, at
SETTINGS use_index_for_in_with_subqueries_max_values = 100000
