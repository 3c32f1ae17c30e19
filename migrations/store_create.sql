-- What was applied, and the SHA-256 of the file at that time. Two services that
-- start at once may both write a row; they are the same.
CREATE TABLE IF NOT EXISTS schema_migrations
(
    version    Int64,
    name       String,
    sha256     String,
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree
ORDER BY (version, sha256)
SETTINGS fsync_after_insert = 1,
         fsync_part_directory = 1
