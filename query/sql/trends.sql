{{- /* Deleted records leave their hours behind, so only the hours of live ids count.
A live record has one row more with sign 1 than with -1, before a merge and after. */ -}}
SELECT toInt8(book) AS book_number, signature, intDiv(toInt64(toUnixTimestamp(hour)) - {from:Int64}, {step:Int64}) AS bucket, sum(count) AS events
FROM hourly
WHERE book IN ('system', 'database')
    AND signature IN (SELECT arrayJoin(arrayMap(digits -> toFixedString(unhex(digits), 16), {signatures:Array(String)})))
    AND hour >= fromUnixTimestamp({from:Int64}) AND hour < fromUnixTimestamp({to:Int64})
    AND id IN
    (
        SELECT id
        FROM records
        WHERE book IN ('system', 'database')
            AND signature IN (SELECT arrayJoin(arrayMap(digits -> toFixedString(unhex(digits), 16), {signatures:Array(String)})))
{{- range .Filters}}
            AND {{.}}
{{- end}}
        GROUP BY id
        HAVING sum(sign) > 0
    )
GROUP BY book, signature, bucket
