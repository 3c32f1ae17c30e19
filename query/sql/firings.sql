{{- /* What has fired rules behind a place on the log. */ -}}
SELECT toInt8(book), signature, id, position, rule, cause, toUnixTimestamp64Milli(clock), project, number, environment, release, toInt8(level), events, usual, minutes
FROM firings
WHERE book IN ('system', 'database') AND position > {after:UInt64}
ORDER BY position, rule, cause
LIMIT {limit:UInt64}
