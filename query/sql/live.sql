{{- /* The records of the signatures as they are now, in both books. sign ASC puts
the row that cancels a deleted state before the state. */ -}}
SELECT whole
FROM
(
    SELECT book, signature, version, sign, whole
    FROM records
    WHERE book IN ('system', 'database')
        AND signature IN (SELECT arrayJoin(arrayMap(digits -> toFixedString(unhex(digits), 16), {signatures:Array(String)})))
    ORDER BY book, signature, version DESC, sign ASC
    LIMIT 1 BY book, signature
)
WHERE sign = 1
