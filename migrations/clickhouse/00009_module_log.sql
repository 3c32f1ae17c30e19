-- +goose Up
-- What applications exchanged with other systems, while module_log is on. A
-- row is known by where it stood on its stream, so that writing it again
-- replaces it: read with FINAL to count exactly. Never PARTITION BY: one insert
-- must stay one part, or the highest sequence would not say that all before it
-- is there.
CREATE TABLE IF NOT EXISTS module_log
(
    log         UInt64 COMMENT 'which stream, as when it was created, in Unix nanoseconds',
    sequence    UInt64 COMMENT 'the request on the stream',
    entry       UInt16 COMMENT 'the entry in the request, from 0',
    project     UInt64,
    time        DateTime64(3, 'UTC') COMMENT 'when it happened, by the application',
    received    DateTime64(3, 'UTC') COMMENT 'when Errata took it',
    module      LowCardinality(String) COMMENT 'the part of the application',
    direction   Enum8('' = 0, 'in' = 1, 'out' = 2) COMMENT 'in: it was called; out: it called',
    action      String,
    target      String COMMENT 'who was called: URL without values, or host',
    status      LowCardinality(String),
    duration_ms Float64 COMMENT '0 when unknown',
    request     String COMMENT 'scrubbed, cut at 16 KiB' CODEC(ZSTD(1)),
    response    String COMMENT 'scrubbed, cut at 16 KiB' CODEC(ZSTD(1)),
    error       String CODEC(ZSTD(1)),
    request_id  String,
    user_id     Int64 COMMENT '0 when unknown',
    ip          IPv6 COMMENT 'IPv4 as ::ffff:a.b.c.d; :: when unknown',
    expires     DateTime('UTC') COMMENT 'when the row goes: received and the days of module-log-days then',
    INDEX ix_time time TYPE minmax GRANULARITY 1,
    INDEX ix_request_id request_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree
ORDER BY (log, sequence, entry)
TTL expires
SETTINGS fsync_after_insert = 1,
         fsync_part_directory = 1;
