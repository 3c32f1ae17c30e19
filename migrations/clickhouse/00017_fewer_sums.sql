-- +goose Up
-- What lists of a million records do as well without: sums by day and by count,
-- and the column that sorted the rows of a search. Each insert takes less without
-- them; see docs/adr/0024-what-the-list-needs.md.
ALTER TABLE records DROP PROJECTION IF EXISTS by_day;
ALTER TABLE records DROP PROJECTION IF EXISTS by_count;

-- A column that is still being written in the background cannot go.
KILL MUTATION WHERE database = currentDatabase() AND table = 'records' AND NOT is_done AND command LIKE '%list_key%' SYNC;
ALTER TABLE records DROP COLUMN IF EXISTS list_key;
