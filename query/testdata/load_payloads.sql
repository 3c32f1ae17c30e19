-- Payloads of 3 to 4 KB for the first n records of load.sql.
INSERT INTO contexts (book, signature, id, payload)
SELECT
    if(cityHash64(number, 11) % 100 < 85, 'system', 'database') AS book,
    sipHash128(number) AS signature,
    (number + 1) * 8192 AS id,
    concat('{"stack":[', arrayStringConcat(arrayMap(
        frame -> concat('{"file":"src/Module', toString(frame), '/Handler', toString(cityHash64(number, frame) % 20000), '.php","line":', toString(frame * 7), ',"function":"handle","args":["string(12)","array(3)"]}'),
        range(30)), ','), ']}') AS payload
FROM numbers({n:UInt64})
