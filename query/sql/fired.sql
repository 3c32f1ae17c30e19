{{- /* The last firing of each rule between two places on the log. */ -}}
SELECT rule, max(position)
FROM firings
WHERE book IN ('system', 'database') AND position > {after:UInt64} AND position < {before:UInt64}
GROUP BY rule
