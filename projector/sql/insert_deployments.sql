INSERT INTO deployments (book, signature, id, environment, release, project, count, first_seen, last_seen, sequence)
