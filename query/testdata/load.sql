-- Records numbered from..from+n-1 with the skew of real ones: few signatures
-- with many events, most of them seen lately, 20,000 files, 300 classes.
INSERT INTO records
    (book, signature, id, version, count, first_seen, last_seen, level, file, line, message_preview,
    exception_class, request_uri, request_method, user_id, ip, status, regressed, checkpoint, sign,
    project, environments, releases)
SELECT
    if(h % 100 < 85, 'system', 'database') AS book,
    sipHash128(number) AS signature,
    (number + 1) * 8192 AS id,
    (number + 1) * 8192 + h % 8000 AS version,
    toUInt64(least(100000, pow(1 - u, -0.9))) AS count,
    last_seen - toIntervalSecond(toUInt32(h % 2592000)) AS first_seen,
    fromUnixTimestamp64Milli(toInt64(1795219200000 - 7776000000 * pow(u2, 3)), 'UTC') AS last_seen,
    multiIf(h % 1000 < 50, 'fatal', h % 1000 < 100, 'critical', h % 1000 < 700, 'error', h % 1000 < 900, 'warning', h % 1000 < 950, 'notice', h % 1000 < 980, 'info', 'debug') AS level,
    concat('src/Module', toString(g % 200), '/Service/Handler', toString(g % 20000), '.php') AS file,
    toUInt32(h % 2000) AS line,
    substring(concat('Call to undefined method on ', hex(sipHash64(number, 1)), ' while handling order ', toString(g % 9000000), ' for customer ', hex(sipHash64(number, 2)), ': expected value between the bounds of the configured window, got nothing from upstream host db', toString(g % 64), '.internal'), 1, 200) AS message_preview,
    if(k % 10 < 9, concat('App\\Exception\\Class', toString(toUInt32(300 * pow(u3, 2))), 'Exception'), '') AS exception_class,
    concat('/api/v2/customers/', toString(g % 4200000), '/orders?page=', toString(k % 20)) AS request_uri,
    multiIf(k % 100 < 60, 'GET', k % 100 < 90, 'POST', k % 100 < 95, 'PUT', 'DELETE') AS request_method,
    if(k % 3 = 0, 0, toInt64(g % 110000)) AS user_id,
    toIPv6(IPv4NumToString(toUInt32(167772160 + g % 300000))) AS ip,
    multiIf(k % 1000 < 20, 'muted', k % 1000 < 120, 'resolved', 'open') AS status,
    k % 1000 > 990 AS regressed,
    '' AS checkpoint,
    1 AS sign,
    1 + g % 50 AS project,
    arraySlice(['production', 'staging', 'development', 'preview'], 1 + k % 3, 1 + k % 2) AS environments,
    [concat('shop@1.', toString(k % 5))] AS releases
FROM
(
    SELECT number, cityHash64(number, 11) AS h, cityHash64(number, 12) AS g, cityHash64(number, 13) AS k,
           (cityHash64(number, 14) % 1000000) / 1000000 AS u, (cityHash64(number, 15) % 1000000) / 1000000 AS u2, (cityHash64(number, 16) % 1000000) / 1000000 AS u3
    FROM numbers({from:UInt64}, {n:UInt64})
)
