-- +goose Up
-- Context of the first sighting, instead of the table payloads: the row that
-- empties the context of a record which is gone wins over the row that filled
-- it, whichever is written last.
CREATE TABLE IF NOT EXISTS contexts
(
    book      Enum8('checkpoint' = 0, 'system' = 1, 'database' = 2),
    signature FixedString(16),
    id        UInt64,
    payload   String CODEC(ZSTD(1)),
    gone      UInt8
)
ENGINE = ReplacingMergeTree(gone)
ORDER BY (book, signature, id)
SETTINGS index_granularity = 128,
         fsync_after_insert = 1,
         fsync_part_directory = 1;
