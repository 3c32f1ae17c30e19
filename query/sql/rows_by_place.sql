{{- /* The places are virtual columns: only the granules in which they lie are
opened, and none is read to find that a row is not in it. A merge may have put
the rows elsewhere meanwhile, never others into the same part; then they are read by their keys, see rows_by_key.sql. */ -}}
SELECT
    book, signature, id, version, count, first_seen, last_seen,
    level, file, line, message_preview, exception_class,
    request_uri, request_method, user_id, ip, status, regressed
FROM records
PREWHERE (_part, _part_offset) IN (arrayZip({parts:Array(String)}, {offsets:Array(UInt64)}))
