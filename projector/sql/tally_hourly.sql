-- Hours that will soon be dropped by age are left out: a merge may have dropped them
-- in one table and not in the other.
SELECT sum(count), groupBitXor(cityHash64(toInt8(book), signature, id, hour, toInt8(level), count, if({dimensions:Bool}, project, 0)))
FROM hourly FINAL
WHERE book != 'checkpoint' AND hour > now() - INTERVAL 390 DAY
