{{- /* The first firings of a rule behind a place on the log, up to another, and how many there are. */ -}}
SELECT toInt8(book), signature, id, position, rule, cause, toUnixTimestamp64Milli(clock), project, number, environment, release, toInt8(level), events, usual, minutes,
    (SELECT count() FROM firings WHERE book IN ('system', 'database') AND position > {after:UInt64} AND position <= {last:UInt64} AND rule = {rule:String})
FROM firings
WHERE book IN ('system', 'database') AND position > {after:UInt64} AND position <= {last:UInt64} AND rule = {rule:String}
ORDER BY position, cause
LIMIT {limit:UInt64}
