INSERT INTO firings (book, signature, id, position, rule, cause, clock, project, number, environment, release, level, count, sequence, events, usual, minutes)
