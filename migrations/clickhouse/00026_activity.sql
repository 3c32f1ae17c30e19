-- +goose Up
-- Activity: what rules of alerts have counted of projects, for a spike by period and for a
-- quiet time the last event. Like firings the table has a checkpoint of its own, and is
-- written behind them and before the records. A rule that counts other events than before
-- has another counting. Deleting records changes nothing of what was counted.
CREATE TABLE IF NOT EXISTS activity
(
    book      Enum8('checkpoint' = 0, 'begun' = 1, 'spike' = 2, 'quiet' = 3),
    signature FixedString(16),
    counting  LowCardinality(String) COMMENT 'of a rule; begun says that the counts of the past are there',
    project   UInt64,
    minute    UInt32 COMMENT 'first minute of the period, in Unix time; of a quiet time that of the day' CODEC(Delta(4), ZSTD(1)),
    count     UInt64 COMMENT 'events; of the checkpoint: rows of the insert',
    seen      SimpleAggregateFunction(max, UInt32) COMMENT 'of a quiet time: minute of the last event',
    last      SimpleAggregateFunction(max, UInt64) COMMENT 'of a quiet time: place of the last event on the log',
    sequence  SimpleAggregateFunction(max, UInt64) COMMENT 'of the checkpoint: up to which fact'
)
ENGINE = SummingMergeTree((count, seen, last, sequence))
ORDER BY (book, counting, project, minute, signature)
-- A week of periods counts, and a project without events is remembered for 30 days. The rest
-- is for a projector that is late.
TTL toDateTime(toUInt64(minute) * 60) + INTERVAL 15 DAY DELETE WHERE book = 'spike',
    toDateTime(toUInt64(minute) * 60) + INTERVAL 45 DAY DELETE WHERE book = 'quiet'
SETTINGS non_replicated_deduplication_window = 10000,
         fsync_after_insert = 1,
         fsync_part_directory = 1;

ALTER TABLE firings
    ADD COLUMN IF NOT EXISTS events UInt64 COMMENT 'of a spike: those of the project in the period',
    ADD COLUMN IF NOT EXISTS usual UInt64 COMMENT 'of a spike: the median of the periods before',
    ADD COLUMN IF NOT EXISTS minutes UInt64 COMMENT 'of a spike: length of the period; of a quiet project: for how long';
