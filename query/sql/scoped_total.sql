{{- if .Sums -}}
SELECT count() AS total
FROM
(
SELECT id
{{template "occurrences" .}}
GROUP BY id
{{- template "sums" .}}
)
{{- else -}}
SELECT uniqExact(id) AS total
{{template "occurrences" .}}
{{- end}}
