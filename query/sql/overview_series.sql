{{- /* The inner query groups by the columns as they are. That takes half the time of
grouping by the expressions of the outer query. */ -}}
SELECT toInt8(book) AS book_number, toString(level) AS level_name, toInt64(toUnixTimestamp(hour)) AS began, events
FROM
(
    SELECT book, level, hour, sum(count) AS events
    FROM hourly
    WHERE book > 'checkpoint'
        AND hour >= fromUnixTimestamp({from:Int64}) AND hour < fromUnixTimestamp({to:Int64})
{{- range .Filters}}
        AND {{.}}
{{- end}}
    GROUP BY book, level, hour
)
ORDER BY book, level DESC, hour
