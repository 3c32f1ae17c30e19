-- +goose Up
-- Firings: which events have fired which rules of alerts. Like the rollups the table has a
-- checkpoint of its own and is written before the records, so that an event fires a rule
-- once, whatever dies meanwhile. A replay leaves it alone: nobody is told again.
CREATE TABLE IF NOT EXISTS firings
(
    book        Enum8('checkpoint' = 0, 'system' = 1, 'database' = 2),
    signature   FixedString(16),
    id          UInt64 COMMENT 'id of the record',
    position    UInt64 COMMENT 'place of the event on the log' CODEC(Delta(8), ZSTD(1)),
    rule        LowCardinality(String),
    cause       LowCardinality(String),
    clock       DateTime64(3, 'UTC') COMMENT 'latest time of receipt on the log up to the event' CODEC(Delta(8), ZSTD(1)),
    project     UInt64,
    number      UInt64 COMMENT 'count of the record with the event',
    environment LowCardinality(String),
    release     LowCardinality(String),
    level       Enum8('' = 0, 'debug' = 1, 'info' = 2, 'notice' = 3, 'warning' = 4, 'error' = 5, 'critical' = 6, 'fatal' = 7),
    count       UInt64 COMMENT '1; of the checkpoint: how many events have fired a rule',
    sequence    SimpleAggregateFunction(max, UInt64) COMMENT 'of the checkpoint: up to which fact'
)
ENGINE = SummingMergeTree((count, sequence))
ORDER BY (book, position, rule, cause, signature)
TTL toDateTime(clock) + INTERVAL 90 DAY DELETE WHERE book != 'checkpoint'
SETTINGS non_replicated_deduplication_window = 10000,
         fsync_after_insert = 1,
         fsync_part_directory = 1;
