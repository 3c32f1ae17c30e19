INSERT INTO hourly (book, signature, id, hour, level, count, sequence, project)
