-- +goose Up
-- One live row (sign +1) per record; a change is one insert of the old row with
-- sign -1 and the new row with sign +1; a delete is the -1 row alone. Totals are
-- sum(sign). The row of book 'checkpoint' (signature = shard number, zero
-- padded) is written by the projector in the same block as the records it
-- vouches for. Never PARTITION BY: one block must stay one part to be atomic.
CREATE TABLE IF NOT EXISTS records
(
    book            Enum8('checkpoint' = 0, 'system' = 1, 'database' = 2),
    signature       FixedString(16),
    id              UInt64 COMMENT 'position of the first sighting in the log; the API id',
    version         UInt64 COMMENT 'position of the last fact applied; unique per state of a record',
    count           UInt64,
    first_seen      DateTime64(3, 'UTC'),
    last_seen       DateTime64(3, 'UTC'),
    level           Enum8('' = 0, 'debug' = 1, 'info' = 2, 'notice' = 3, 'warning' = 4, 'error' = 5, 'critical' = 6, 'fatal' = 7),
    file            String,
    line            UInt32,
    message_preview String,
    exception_class LowCardinality(String),
    request_uri     String,
    request_method  LowCardinality(String),
    user_id         Int64,
    ip              IPv6 COMMENT 'IPv4 as ::ffff:a.b.c.d; :: when unknown',
    status          Enum8('open' = 0, 'resolved' = 1, 'muted' = 2),
    regressed       Bool,
    checkpoint      String COMMENT 'JSON of the checkpoint row, empty for records',
    sign            Int8,
    CONSTRAINT sign_is_unit CHECK sign IN (-1, 1),
    INDEX ix_ip ip TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX ix_user user_id TYPE bloom_filter(0.01) GRANULARITY 1,
    PROJECTION by_last
    (
        SELECT last_seen, book, signature, id, version, sign, count, level, request_method, exception_class, status
        ORDER BY last_seen
    )
)
ENGINE = VersionedCollapsingMergeTree(sign, version)
ORDER BY (book, signature)
SETTINGS index_granularity = 512,
         min_compress_block_size = 4096,
         deduplicate_merge_projection_mode = 'rebuild',
         lightweight_mutation_projection_mode = 'drop',
         non_replicated_deduplication_window = 10000,
         fsync_after_insert = 1,
         fsync_part_directory = 1;
