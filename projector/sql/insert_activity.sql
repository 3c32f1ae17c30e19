INSERT INTO activity (book, signature, counting, project, minute, count, seen, last, sequence)
