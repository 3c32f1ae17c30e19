-- Hours that will soon be dropped by age are left out: a merge may have dropped them
-- in one table and not in the other. Rows of the same key are added up by a merge: each is
-- multiplied by the hash of its key, so that the sum is the same before and after it, without
-- FINAL.
SELECT sum(count), sum(count * cityHash64(toInt8(book), signature, id, hour, toInt8(level), if({dimensions:Bool}, project, 0)))
FROM hourly
WHERE book != 'checkpoint' AND hour > now() - INTERVAL 390 DAY
