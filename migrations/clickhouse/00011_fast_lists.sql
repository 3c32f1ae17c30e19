-- +goose Up
-- What lists of ten million records need. Parts that were written before have
-- none of it until the start that applies this has had them filled in the
-- background; queries are right meanwhile, but slower.

-- All that the search looks at, in lower case, so that one expression and one
-- index serve every filter by text. Fields are parted by a line feed.
ALTER TABLE records ADD COLUMN IF NOT EXISTS
    search String MATERIALIZED lowerUTF8(concat(message_preview, '\n', exception_class, '\n', file, '\n', request_uri))
    COMMENT 'message, class, file and request address in lower case, a line each';
ALTER TABLE records ADD INDEX IF NOT EXISTS ix_search search TYPE text(tokenizer = ngrams(3));

-- A search may also mean the first digits of a signature. An OR of two conditions
-- is narrowed only if each has a skip index, of granularity 1; the primary key
-- does not count.
ALTER TABLE records ADD INDEX IF NOT EXISTS ix_signature signature TYPE minmax GRANULARITY 1;

-- by_time instead of by_last: larger granules, because it is scanned for totals
-- and deep pages, and the place of each row in its part, by which the rows of a
-- page are read.
ALTER TABLE records DROP PROJECTION IF EXISTS by_last;
ALTER TABLE records ADD PROJECTION IF NOT EXISTS by_time
(
    SELECT last_seen, book, signature, id, version, sign, count, level, request_method, exception_class, status, _part_offset
    ORDER BY last_seen
)
WITH SETTINGS (index_granularity = 2048);

-- Totals by what has few values, whatever the number of records.
ALTER TABLE records ADD PROJECTION IF NOT EXISTS by_group
(
    SELECT book, level, status, exception_class, sum(sign), count()
    GROUP BY book, level, status, exception_class
);
