-- Also those of records that are gone: a replay makes them again.
SELECT sum(count), groupBitXor(cityHash64(toInt8(book), signature, id, environment, release, project, count, first_seen, last_seen, gone))
FROM deployments FINAL
WHERE book != 'checkpoint'
