INSERT INTO contexts (book, signature, id, payload, gone, words, event_id)
