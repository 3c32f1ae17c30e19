{{- /* Parts that are not merged may have several rows of one deployment. Of all rows of a
record the latest comes first, and it is the record's last occurrence. */ -}}
SELECT toInt8(any(book)) AS book_number, any(signature) AS digits, id, count() AS read
FROM
(
    SELECT book, signature, id, last_seen
    {{template "occurrences" .}}
    ORDER BY last_seen DESC, id DESC
    LIMIT {window:UInt64}
)
GROUP BY id
ORDER BY max(last_seen) DESC, id DESC
