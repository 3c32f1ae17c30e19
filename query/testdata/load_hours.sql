-- Eight hours of each record, the last one that of its last sighting.
INSERT INTO hourly (book, signature, id, hour, level, count, sequence, project)
SELECT book, signature, id, toStartOfHour(last_seen) - toIntervalHour(back * (1 + id % 7)) AS hour, level, 1 + id % 5 AS count, 0 AS sequence, project
FROM records
ARRAY JOIN range(8) AS back
WHERE book != 'checkpoint' AND sign = 1
