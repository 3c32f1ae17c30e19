-- +goose Up
-- Context of the first sighting. Written before the record; the id in the key
-- makes a repeat harmless.
CREATE TABLE IF NOT EXISTS payloads
(
    book      Enum8('checkpoint' = 0, 'system' = 1, 'database' = 2),
    signature FixedString(16),
    id        UInt64,
    payload   String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree
ORDER BY (book, signature, id)
SETTINGS index_granularity = 128,
         fsync_after_insert = 1,
         fsync_part_directory = 1;
