{{- /* The key finds the rows of the record, and they are read from one end. */ -}}
SELECT number, position, event_id, client_id, time, received, environment, release, user_hash, user,
    toString(level) AS level_name, server, transaction, trace_id, tags
FROM occurrences
WHERE book = {book:String}
    AND signature = toFixedString(unhex({signature:String}), 16)
    AND id = {id:UInt64}
    AND number <= {count:UInt64}
{{- range .Filters}}
    AND {{.}}
{{- end}}
ORDER BY position {{.Order}}
LIMIT {limit:UInt64}
