{{- /* The same as total.sql for a range of times: its whole days, which the
projection by_day has counted, and what is left of it at both ends, each by
itself: an OR of both is not read from by_time. All see the same parts
(enable_shared_storage_snapshot_in_query). */ -}}
SELECT sum(total) AS total, sum(raw) AS raw
FROM
(
{{- range $i, $part := .Parts}}
{{- if $i}}
    UNION ALL
{{- end}}
    SELECT
        sum(sign) AS total,
        count() AS raw
    FROM records
    WHERE book > 'checkpoint'
        AND {{$part}}
{{- range $.Filters}}
        AND {{.}}
{{- end}}
{{- end}}
)
