{{- /* The places are virtual columns: only the granules in which they lie are
opened, and none is read to find that a row is not in it. A merge may have put
the rows elsewhere meanwhile, never others into the same part; then they are read by their keys, see rows_by_key.sql. */ -}}
SELECT packed
FROM records
PREWHERE (_part, _part_offset) IN (arrayZip({parts:Array(String)}, {offsets:Array(UInt64)}))
