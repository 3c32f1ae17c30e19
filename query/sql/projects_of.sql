{{- /* A signature belongs to one project. Deployments stay when their record is gone. */ -}}
SELECT signature, max(project) AS project
FROM deployments
WHERE book IN ('system', 'database')
    AND signature IN (SELECT arrayJoin(arrayMap(digits -> toFixedString(unhex(digits), 16), {signatures:Array(String)})))
GROUP BY signature
