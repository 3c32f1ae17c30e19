-- +goose Up
-- What applications asked their databases, while query_logging is on. Keys and
-- repeats are those of module_log.
CREATE TABLE IF NOT EXISTS query_log
(
    log         UInt64 COMMENT 'which stream, as when it was created, in Unix nanoseconds',
    sequence    UInt64 COMMENT 'the request on the stream',
    entry       UInt16 COMMENT 'the entry in the request, from 0',
    project     UInt64,
    time        DateTime64(3, 'UTC') COMMENT 'when it happened, by the application',
    received    DateTime64(3, 'UTC') COMMENT 'when Errata took it',
    query       String COMMENT 'with ? for each literal, without comments, cut at 16 KiB' CODEC(ZSTD(1)),
    duration_ms Float64 COMMENT '0 when unknown',
    rows        UInt64 COMMENT '0 when unknown',
    connection  LowCardinality(String),
    file        String COMMENT 'where the application asked, relative to the install root',
    line        UInt32,
    error       String CODEC(ZSTD(1)),
    request_id  String,
    user_id     Int64 COMMENT '0 when unknown',
    ip          IPv6 COMMENT 'IPv4 as ::ffff:a.b.c.d; :: when unknown',
    expires     DateTime('UTC') COMMENT 'when the row goes: received and the days of query-log-days then',
    INDEX ix_time time TYPE minmax GRANULARITY 1,
    INDEX ix_request_id request_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree
ORDER BY (log, sequence, entry)
TTL expires
SETTINGS fsync_after_insert = 1,
         fsync_part_directory = 1;
