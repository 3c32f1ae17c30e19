{{- /* raw - total is the number of rows that cancel each other: each such pair
counts two in raw and nothing in total. */ -}}
SELECT
    sum(sign) AS total,
    count() AS raw
FROM records
WHERE book > 'checkpoint'
{{- range .Filters}}
    AND {{.}}
{{- end}}
