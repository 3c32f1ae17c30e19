{{- /* The primary key can use a set from a subquery, but not a computed array:
ClickHouse would search that array for every row of the table. */ -}}
SELECT whole
FROM records
PREWHERE book IN ('system', 'database')
    AND signature IN (SELECT arrayJoin(arrayMap(digits -> toFixedString(unhex(digits), 16), {signatures:Array(String)})))
    AND version IN {versions:Array(UInt64)}
    AND sign = 1
