-- The active parts of the records from the named one on, or all when none is named;
-- the youngest first. A part holds the inserts from its least block number to its
-- greatest.
SELECT name, rows
FROM system.parts
WHERE database = currentDatabase() AND table = 'records' AND active
    AND ({part:String} = '' OR min_block_number >=
    (
        SELECT min(min_block_number)
        FROM system.parts
        WHERE database = currentDatabase() AND table = 'records' AND active AND name = {part:String}
        HAVING count() = 1
    ))
ORDER BY min_block_number DESC
