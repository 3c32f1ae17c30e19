{{- /* The last row of a deleted record has sign -1, and its column whole is empty. */ -}}
SELECT whole
FROM records
WHERE book = {book:String}
    AND signature = toFixedString(unhex({signature:String}), 16)
ORDER BY version DESC, sign ASC
LIMIT 1
