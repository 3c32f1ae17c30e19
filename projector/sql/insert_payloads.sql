INSERT INTO payloads (book, signature, id, payload)
