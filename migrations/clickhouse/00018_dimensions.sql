-- +goose Up
-- Whose error it is: the project of a record, and the environments and releases in
-- which it was seen, the latest first. Records of an older version have none of it
-- until a replay makes them again.
ALTER TABLE records ADD COLUMN IF NOT EXISTS
    project UInt64 COMMENT 'number of the project; 0 when unknown';
ALTER TABLE records ADD COLUMN IF NOT EXISTS
    environments Array(LowCardinality(String)) COMMENT 'where it was seen, the latest first';
ALTER TABLE records ADD COLUMN IF NOT EXISTS
    releases Array(LowCardinality(String)) COMMENT 'by which releases, the latest first';
ALTER TABLE records ADD COLUMN IF NOT EXISTS
    noise Bool COMMENT 'a noise rule marked its first event';

-- whole in the place of packed: all columns of a record, with those above. Its
-- layout is read by the package internal/packed and never changes. Rows that cancel
-- another are not read and have none, nor has the checkpoint. Parts that were
-- written before work it out when they are read, until the start that applies this
-- has had it written in the background.

-- A column that is still being written in the background cannot go.
KILL MUTATION WHERE database = currentDatabase() AND table = 'records' AND NOT is_done AND command LIKE '%packed%' SYNC;
ALTER TABLE records DROP COLUMN IF EXISTS packed;
ALTER TABLE records ADD COLUMN IF NOT EXISTS
    whole String MATERIALIZED if(sign = 1 AND book > 'checkpoint', concat(
        reinterpretAsFixedString(toUInt8(book)),
        signature,
        reinterpretAsFixedString(id),
        reinterpretAsFixedString(version),
        reinterpretAsFixedString(count),
        reinterpretAsFixedString(toUnixTimestamp64Milli(first_seen)),
        reinterpretAsFixedString(toUnixTimestamp64Milli(last_seen)),
        reinterpretAsFixedString(toUInt64(project)),
        reinterpretAsFixedString(toUInt8(level)),
        reinterpretAsFixedString(line),
        reinterpretAsFixedString(user_id),
        reinterpretAsFixedString(ip),
        reinterpretAsFixedString(toUInt8(status)),
        reinterpretAsFixedString(toUInt8(regressed)),
        reinterpretAsFixedString(toUInt8(noise)),
        reinterpretAsFixedString(toUInt32(length(file))),
        reinterpretAsFixedString(toUInt32(length(message_preview))),
        reinterpretAsFixedString(toUInt32(length(exception_class))),
        reinterpretAsFixedString(toUInt32(length(request_uri))),
        reinterpretAsFixedString(toUInt32(length(request_method))),
        file, message_preview, exception_class, request_uri, request_method,
        reinterpretAsFixedString(toUInt32(length(environments))),
        arrayStringConcat(arrayMap(name -> concat(reinterpretAsFixedString(toUInt32(length(name))), name), environments)),
        reinterpretAsFixedString(toUInt32(length(releases))),
        arrayStringConcat(arrayMap(name -> concat(reinterpretAsFixedString(toUInt32(length(name))), name), releases))), '')
    COMMENT 'all columns of a live record in one, to read whole records';

-- Lists and totals of a project are read from by_time. by_group does not have the
-- project: with it a million records of 50 projects have half as many groups, and the
-- total of the default page takes 30 ms more.
ALTER TABLE records DROP PROJECTION IF EXISTS by_time;
ALTER TABLE records ADD PROJECTION IF NOT EXISTS by_time
(
    SELECT last_seen, book, signature, id, version, sign, count, level, request_method, exception_class, status, project, noise, _part_offset
    ORDER BY last_seen
)
WITH SETTINGS (index_granularity = 2048);
ALTER TABLE records DROP PROJECTION IF EXISTS by_group;
ALTER TABLE records ADD PROJECTION IF NOT EXISTS by_group
(
    SELECT book, level, status, noise, exception_class, sum(sign), count()
    GROUP BY book, level, status, noise, exception_class
);

-- The project follows from the signature, so the sum over one hour is still one row.
-- The hour comes first: with many projects a range could not be found otherwise.
ALTER TABLE hourly ADD COLUMN IF NOT EXISTS
    project SimpleAggregateFunction(max, UInt64) COMMENT 'number of the project; 0 when unknown';
ALTER TABLE hourly DROP PROJECTION IF EXISTS by_level;
ALTER TABLE hourly ADD PROJECTION IF NOT EXISTS by_level
(
    SELECT hour, book, project, level, sum(count)
    GROUP BY hour, book, project, level
);

-- Occurrences by deployment: the environment and the release in which they happened,
-- for ever. Like hourly it has a checkpoint of its own and is written before the
-- records. A record that is removed leaves its rows behind; one row with gone = 1,
-- whose environment and release are empty, says so, and the index finds such rows. Lists
-- of an environment or a release are read from by_time until the page is full.
CREATE TABLE IF NOT EXISTS deployments
(
    book        Enum8('checkpoint' = 0, 'system' = 1, 'database' = 2),
    signature   FixedString(16),
    id          UInt64 COMMENT 'id of the record: a signature that was deleted and seen again has a new one',
    environment LowCardinality(String),
    release     LowCardinality(String),
    project     SimpleAggregateFunction(max, UInt64),
    count       SimpleAggregateFunction(sum, UInt64),
    first_seen  SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
    last_seen   SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
    gone        SimpleAggregateFunction(max, UInt8),
    sequence    SimpleAggregateFunction(max, UInt64),
    INDEX ix_gone gone TYPE minmax GRANULARITY 1,
    PROJECTION by_time
    (
        SELECT last_seen, book, signature, id, environment, release, project
        ORDER BY last_seen
    )
)
ENGINE = AggregatingMergeTree
ORDER BY (book, signature, id, environment, release)
SETTINGS index_granularity = 1024,
         deduplicate_merge_projection_mode = 'rebuild',
         non_replicated_deduplication_window = 10000,
         fsync_after_insert = 1,
         fsync_part_directory = 1;
