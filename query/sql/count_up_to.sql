{{- /* What a cleanup removes is what the projector's own count of it says; the
projection by_time holds both columns. */ -}}
SELECT sumIf(sign, book = 'system') AS in_system, sumIf(sign, book = 'database') AS in_database
FROM records
WHERE book > 'checkpoint' AND last_seen <= fromUnixTimestamp64Milli({before:Int64}, 'UTC')
