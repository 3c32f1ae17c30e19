{{- /* The last row of a record that is gone cancels another, and has nothing packed. */ -}}
SELECT packed
FROM records
WHERE book = {book:String}
    AND signature = toFixedString(unhex({signature:String}), 16)
ORDER BY version DESC, sign ASC
LIMIT 1
