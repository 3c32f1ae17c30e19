INSERT INTO contexts (book, signature, id, payload, gone)
