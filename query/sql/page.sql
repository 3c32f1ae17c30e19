{{- /* A cancelled state is two rows of the same id and version next to each other,
the one with sign -1 first. So the first row of each state in the window says
whether the state is live, also if the window ends between the two rows. Only the
innermost query sorts; the rows keep its order. */ -}}
SELECT toInt8(book) AS book_number, signature, version
FROM
(
    SELECT book, signature, id, version, sign
    FROM
    (
        SELECT book, signature, id, version, sign
        FROM records
        WHERE book > 'checkpoint'
{{- range .Filters}}
            AND {{.}}
{{- end}}
        ORDER BY {{.Order}}
        LIMIT {window:UInt64}
    )
    LIMIT 1 BY id, version
)
WHERE sign = 1
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
