INSERT INTO occurrences
(
    book, signature, id, position, number, project, time, received, event_id, client_id, environment, release,
    user_hash, user, level, server, transaction, trace_id, tags, count, sequence
)
