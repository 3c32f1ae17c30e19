-- One of thirty days of occurrences. The r-th record has scale / (r + 1)^0.8 of them, so
-- that the loudest has some hundredths of all; each has a user, five tags, two in three
-- a trace.
INSERT INTO occurrences (book, signature, id, position, number, project, time, received, event_id, client_id, environment, release,
    user_hash, user, level, server, transaction, trace_id, tags, count)
WITH
    cityHash64(r, k) AS h, cityHash64(h) AS g,
    toUInt64(greatest(1, {scale:Float64} / pow(r + 1, 0.8))) AS c,
    toUInt64(2592000000 / c) AS step,
    k * step + g % step AS at,
    h % 100000 AS u
SELECT
    if(r % 10 = 0, 'database', 'system') AS book, MD5(toString(r)) AS signature, 8192 * (1000 + r) AS id,
    toUInt64(8192 * 1000000 + at * 10 + h % 10) AS position, k + 1 AS number, 1 + r % 50 AS project,
    fromUnixTimestamp64Milli(1792627200000 + at, 'UTC') AS time, fromUnixTimestamp64Milli(1792627200000 + at + g % 2000, 'UTC') AS received,
    MD5(toString(h)) AS event_id, '' AS client_id,
    ['production', 'production', 'production', 'staging', 'qa'][1 + h % 5] AS environment,
    concat('shop@1.', toString(intDiv(at, 100000000))) AS release,
    bitShiftRight(cityHash64('salt', u), 8) AS user_hash, concat('user', toString(u), '@example.com') AS user, 'error' AS level,
    concat('web-', toString(g % 50)) AS server, concat('GET /orders/', toString(r % 100)) AS transaction,
    if(h % 3 > 0, MD5(toString(g)), '') AS trace_id,
    [concat('browser\tChrome ', toString(100 + h % 30)), concat('os\t', ['Windows 11', 'macOS 15', 'Linux', 'Android 14', 'iOS 18'][1 + g % 5]),
     concat('region\t', ['eu-1', 'us-1', 'us-2', 'ap-1'][1 + intDiv(g, 5) % 4]), concat('customer\t', toString(intDiv(h, 100) % 5000)), 'handled\tyes'] AS tags, 1 AS count
FROM
(
    SELECT number AS r, toUInt64(greatest(1, {scale:Float64} / pow(number + 1, 0.8))) AS of,
        arrayJoin(range(intDiv(of * {day:UInt64}, 30), intDiv(of * ({day:UInt64} + 1), 30))) AS k
    FROM numbers({records:UInt64})
)
SETTINGS max_threads = 1, max_block_size = 1024
