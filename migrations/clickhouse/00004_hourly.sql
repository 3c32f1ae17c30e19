-- +goose Up
-- Occurrences by the hour. The row of book 'checkpoint' says up to which
-- sequence the log is counted here; it stands in the same block as the counts
-- that it vouches for, and this table is written before the records, so that
-- it is never behind them.
CREATE TABLE IF NOT EXISTS hourly
(
    book      Enum8('checkpoint' = 0, 'system' = 1, 'database' = 2),
    signature FixedString(16),
    id        UInt64 COMMENT 'id of the record: a signature that was deleted and seen again has a new one',
    hour      DateTime('UTC'),
    level     Enum8('' = 0, 'debug' = 1, 'info' = 2, 'notice' = 3, 'warning' = 4, 'error' = 5, 'critical' = 6, 'fatal' = 7),
    count     SimpleAggregateFunction(sum, UInt64),
    sequence  SimpleAggregateFunction(max, UInt64)
)
ENGINE = AggregatingMergeTree
ORDER BY (book, signature, id, hour, level)
TTL hour + INTERVAL 400 DAY DELETE WHERE book != 'checkpoint'
SETTINGS index_granularity = 1024,
         non_replicated_deduplication_window = 10000,
         fsync_after_insert = 1,
         fsync_part_directory = 1;
