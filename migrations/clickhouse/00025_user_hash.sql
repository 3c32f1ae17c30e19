-- +goose Up
-- Hashes of users have 56 bits, so that T64 can leave the eighth byte out. Parts that were
-- written before get the codec when they are merged.
ALTER TABLE occurrences MODIFY COLUMN user_hash UInt64 CODEC(T64, ZSTD(1));
