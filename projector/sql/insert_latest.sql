INSERT INTO latest_contexts (book, signature, id, position, project, received, user, ip, payload)
