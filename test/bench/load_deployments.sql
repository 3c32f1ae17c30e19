-- The deployments of the occurrences.
INSERT INTO deployments (book, signature, id, environment, release, project, count, first_seen, last_seen, gone, sequence)
SELECT book, signature, id, environment, release, any(project), count(), min(time), max(time), 0, 0
FROM occurrences
WHERE book > 'checkpoint'
GROUP BY book, signature, id, environment, release
SETTINGS max_threads = 1, max_bytes_before_external_group_by = 300000000
