SELECT id, sum(count) AS seen, min(first_seen) AS first, max(last_seen) AS last
FROM deployments
WHERE book IN ('system', 'database')
    AND signature IN (SELECT arrayJoin(arrayMap(digits -> toFixedString(unhex(digits), 16), {signatures:Array(String)})))
    AND id IN {ids:Array(UInt64)}
{{- range .Filters}}
    AND {{.}}
{{- end}}
GROUP BY id
