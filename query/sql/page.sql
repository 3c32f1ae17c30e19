{{- /* A state that was cancelled is two rows with the same version next to each
other, the one with sign -1 first. So of each version's rows within the window
the first tells whether the state is live, also if the window ends between the
two. Nothing sorts again above the innermost query: the rows stay in its order. */ -}}
SELECT signature, version
FROM
(
    SELECT book, signature, version, sign
    FROM
    (
        SELECT book, signature, version, sign
        FROM records
        WHERE book != 'checkpoint'
{{- range .Filters}}
            AND {{.}}
{{- end}}
        ORDER BY {{.Order}}
        LIMIT {window:UInt64}
    )
    LIMIT 1 BY book, signature, version
)
WHERE sign = 1
LIMIT {limit:UInt64} OFFSET {offset:UInt64}
