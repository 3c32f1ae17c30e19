{{- /* Read from the ClickHouse projection by_level, like overview_series.sql. */ -}}
SELECT project, sum(count) AS events
FROM hourly
WHERE book > 'checkpoint'
    AND hour >= fromUnixTimestamp({from:Int64}) AND hour < fromUnixTimestamp({to:Int64})
{{- range .Filters}}
    AND {{.}}
{{- end}}
GROUP BY project
ORDER BY events DESC, project
