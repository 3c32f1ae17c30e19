-- +goose Up
-- What tells and sorts the rows of a record in one column, for searches that find
-- rows here and there: to open a granule costs more than to read it, and they were
-- four. Parts that were written before work it out when they are read, until the
-- start that applies this has had it written in the background.
ALTER TABLE records ADD COLUMN IF NOT EXISTS
    row_key FixedString(25) MATERIALIZED toFixedString(concat(
        reinterpretAsFixedString(toUnixTimestamp64Milli(last_seen)),
        reinterpretAsFixedString(id),
        reinterpretAsFixedString(version),
        reinterpretAsFixedString(sign)), 25)
    COMMENT 'last_seen, id, version and sign in one, to look through rows here and there';
