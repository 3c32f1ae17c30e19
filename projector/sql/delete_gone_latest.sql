-- Deletes the contexts of their latest events.
DELETE FROM latest_contexts
WHERE (book, signature, id) IN (SELECT book, signature, id FROM deployments WHERE gone = 1 AND sequence > {after:UInt64} AND sequence <= {to:UInt64})
