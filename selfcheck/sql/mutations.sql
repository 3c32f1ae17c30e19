-- The insert numbers that mutations have taken: no part has them.
SELECT table, arrayJoin(`block_numbers.number`)
FROM system.mutations
WHERE database = currentDatabase()
