-- Hours that are about to leave by their age are left out: a merge may have
-- removed them from one table and not from the other.
SELECT sum(count), groupBitXor(cityHash64(toInt8(book), signature, id, hour, toInt8(level), count))
FROM hourly FINAL
WHERE book != 'checkpoint' AND hour > now() - INTERVAL 390 DAY
