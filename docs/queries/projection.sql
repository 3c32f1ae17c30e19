-- How far the log is folded, whether the records agree with it, and how much disk
-- the tables take. counted is less than events by the events of deleted records.
SELECT p.shard AS shard, p.sequence AS sequence, p.events AS events, r.counted AS counted,
       p.duplicates AS duplicates, p.off AS off, p.poison AS poison, p.recording_off AS recording_off,
       r.records AS records, r.last_seen AS last_seen, dateDiff('second', r.last_seen, now64(3)) AS quiet_seconds,
       s.bytes AS bytes
FROM projection AS p
CROSS JOIN (SELECT count() AS records, sum(count) AS counted, max(last_seen) AS last_seen FROM records) AS r
CROSS JOIN (SELECT sum(bytes) AS bytes FROM storage) AS s
ORDER BY shard
