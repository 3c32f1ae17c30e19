-- +goose Up
-- What a list needs of a row, in the place of row_key: in this order the bytes sort
-- as the default list does, and they end with the row's primary key, so that neither
-- its place in the part nor book has to be read beside them. Numbers are big-endian
-- and inverted: the newest comes first. The sign has 1 added, so that a row that
-- cancels another comes before that one; the checkpoint has 1, which counts nothing.
-- Compressing it would save a seventh and cost a fifth of the time of a search.
-- Parts that were written before work it out when they are read, until the start
-- that applies this has had it written in the background.

-- A column that is still being written in the background cannot go.
KILL MUTATION WHERE database = currentDatabase() AND table = 'records' AND NOT is_done AND command LIKE '%row_key%' SYNC;
ALTER TABLE records DROP COLUMN IF EXISTS row_key;
ALTER TABLE records ADD COLUMN IF NOT EXISTS
    list_key FixedString(42) MATERIALIZED toFixedString(concat(
        reverse(reinterpretAsFixedString(bitNot(bitXor(reinterpretAsUInt64(toUnixTimestamp64Milli(last_seen)), 9223372036854775808)))),
        reverse(reinterpretAsFixedString(bitNot(id))),
        reverse(reinterpretAsFixedString(bitNot(version))),
        reinterpretAsFixedString(toUInt8(if(book = 'checkpoint', 0, sign) + 1)),
        signature,
        reinterpretAsFixedString(toInt8(book))), 42)
    COMMENT 'last_seen, id, version, sign, signature and book in one, which sorts as lists do' CODEC(NONE);
