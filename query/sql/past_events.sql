{{- /* The latest events that a rule of alerts is about, in the order of the log: those with
one of the numbers, and all of records that have enough of them for a frequency. */ -}}
SELECT *
FROM
(
    SELECT toInt8(book), signature, id, project, position, number, toUnixTimestamp64Milli(received), user_hash, toInt8(level), environment, release
    FROM occurrences
    WHERE {{template "past" .}}
        AND (has({numbers:Array(UInt64)}, number)
            OR {enough:UInt64} > 0 AND id IN
            (
                SELECT id
                FROM occurrences
                WHERE {enough:UInt64} > 0 AND {{template "past" .}}
                GROUP BY id
                HAVING count() >= {enough:UInt64}
            ))
    ORDER BY position DESC
    LIMIT {limit:UInt64}
)
ORDER BY position

{{- define "past"}}book IN ('system', 'database') AND received >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
        AND (empty({books:Array(String)}) OR has({books:Array(String)}, toString(book)))
        AND (empty({projects:Array(UInt64)}) OR has({projects:Array(UInt64)}, project))
        AND (empty({environments:Array(String)}) OR has({environments:Array(String)}, toString(environment)))
        AND (empty({levels:Array(String)}) OR has({levels:Array(String)}, toString(level)))
        AND (empty({signatures:Array(String)}) OR signature IN (SELECT arrayJoin(arrayMap(digits -> toFixedString(unhex(digits), 16), {signatures:Array(String)}))))
        AND (empty({search:String}) OR id IN
        (
            SELECT id
            FROM records
            WHERE book > 'checkpoint'
                AND arrayExists(text -> position(lowerUTF8(text), {search:String}) > 0, [message_preview, exception_class, file])
        ))
{{- end}}
