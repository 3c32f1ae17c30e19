{{- /* Records are read from the ClickHouse projection by_time, events from by_level. */ -}}
SELECT project, sum(live) AS records, sum(seen) AS events
FROM
(
    SELECT project, sum(sign) AS live, toUInt64(0) AS seen
    FROM records
    WHERE book > 'checkpoint'
{{- range .Filters}}
        AND {{.}}
{{- end}}
    GROUP BY project
    UNION ALL
    SELECT project, toInt64(0) AS live, sum(count) AS seen
    FROM hourly
    WHERE book > 'checkpoint'
        AND hour >= fromUnixTimestamp({from:Int64}) AND hour < fromUnixTimestamp({to:Int64})
{{- range .Filters}}
        AND {{.}}
{{- end}}
    GROUP BY project
)
GROUP BY project
