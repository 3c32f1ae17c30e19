SELECT id, {{.From.Count}} AS seen, {{.From.First}} AS first, {{.From.Last}} AS last
FROM {{.From.Table}}
WHERE book IN ('system', 'database')
    AND signature IN (SELECT arrayJoin(arrayMap(digits -> toFixedString(unhex(digits), 16), {signatures:Array(String)})))
    AND id IN {ids:Array(UInt64)}
{{- range .Filters}}
    AND {{.}}
{{- end}}
GROUP BY id
