{{- /* The condition is that of the projector's own count before a cleanup. The
ClickHouse projection by_time has the columns book and last_seen. */ -}}
SELECT sumIf(sign, book = 'system') AS in_system, sumIf(sign, book = 'database') AS in_database
FROM records
WHERE book > 'checkpoint' AND last_seen <= fromUnixTimestamp64Milli({before:Int64}, 'UTC')
{{- range .Filters}}
    AND {{.}}
{{- end}}
