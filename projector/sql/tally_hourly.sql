-- Hours that will soon be dropped by age are left out: a merge may have dropped them
-- in one table and not in the other. A merge adds up the counts of rows with the same key. The
-- checksum adds up each count times the hash of its key, so a merge does not change it.
SELECT sum(count), sum(count * cityHash64(toInt8(book), signature, id, hour, toInt8(level), if({dimensions:Bool}, project, 0)))
FROM hourly
WHERE book != 'checkpoint' AND hour > now() - INTERVAL 390 DAY
