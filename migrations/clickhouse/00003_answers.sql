-- +goose Up
-- What the projector answered to a command fact, by its stream sequence.
-- Written before the checkpoint passes the command; a repeat is the same row.
CREATE TABLE IF NOT EXISTS answers
(
    sequence UInt64,
    shard    UInt16,
    answer   String
)
ENGINE = ReplacingMergeTree
ORDER BY (sequence, shard)
SETTINGS fsync_after_insert = 1,
         fsync_part_directory = 1;
