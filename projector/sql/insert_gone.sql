INSERT INTO deployments (book, signature, id, gone, sequence)
