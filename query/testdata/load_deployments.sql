-- Events of the records of load.sql in each of their environments and releases.
INSERT INTO deployments (book, signature, id, environment, release, project, count, first_seen, last_seen, gone, sequence)
SELECT
    book, signature, id, d.1 AS environment, d.2 AS release, project,
    1 + id % 7 AS count,
    first_seen,
    last_seen - toIntervalSecond(cityHash64(id, environment) % 86400) AS last_seen,
    0 AS gone,
    version AS sequence
FROM records
ARRAY JOIN arrayFlatten(arrayMap(e -> arrayMap(r -> (e, r), releases), environments)) AS d
WHERE book != 'checkpoint' AND sign = 1
