{{- /* How many events that a rule of alerts is about came in each minute, and how many of
them of records that are neither muted nor hidden. Those of records that are gone count until
they are deleted in the background. */ -}}
SELECT *
FROM
(
    SELECT intDiv(toUnixTimestamp64Milli(received), 60000) AS minute, project, count(),
        countIf(id NOT IN (SELECT id FROM records FINAL WHERE book > 'checkpoint' AND (status = 'muted' OR noise)))
    FROM occurrences
    WHERE {{template "past" .}}
    GROUP BY minute, project
    ORDER BY minute DESC
    LIMIT {limit:UInt64}
)
ORDER BY minute, project
