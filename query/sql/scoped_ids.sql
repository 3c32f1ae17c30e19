id IN
    (
SELECT id
{{template "occurrences" .}}
GROUP BY id
{{- template "sums" .}}
    )
