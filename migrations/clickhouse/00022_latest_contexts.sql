-- +goose Up
-- Contexts of the latest events of records whose blocks were purged from the log: one for
-- each record, the later one wins. They are written before the snapshot that comes before
-- a purge. The columns beside the context tell an expiry and an erasure what is theirs.
CREATE TABLE IF NOT EXISTS latest_contexts
(
    book      Enum8('checkpoint' = 0, 'system' = 1, 'database' = 2),
    signature FixedString(16),
    id        UInt64 COMMENT 'id of the record',
    position  UInt64 COMMENT 'place that the event had on the log',
    project   UInt64,
    received  DateTime64(3, 'UTC'),
    user      String,
    ip        IPv6 COMMENT ':: when unknown',
    payload   String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(position)
ORDER BY (book, signature, id)
SETTINGS index_granularity = 128,
         fsync_after_insert = 1,
         fsync_part_directory = 1;
