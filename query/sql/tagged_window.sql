{{- /* The records with an occurrence that matches since the last times of so many rows of
records. There are no others with a later one. Which time that is does not matter, so rows
that are cancelled may be among those of records. */ -}}
SELECT toInt8(any(book)) AS book_number, any(signature) AS digits, id, count() AS read
{{template "occurrences" .}}
    AND time >= (SELECT min(last_seen) FROM (SELECT last_seen FROM records WHERE book > 'checkpoint' ORDER BY last_seen DESC LIMIT {window:UInt64}))
GROUP BY id
ORDER BY max(time) DESC, id DESC
