-- +goose Up
-- All columns of a record in one, for who reads whole records here and there: to
-- open a granule costs the same in a narrow column as in a wide one, and they are
-- eighteen. Its layout is read by the package internal/packed and never changes.
-- Rows that cancel another are not read and have none, nor has the checkpoint.
-- Parts that were written before work it out when they are read, until the start
-- that applies this has had it written in the background.
ALTER TABLE records ADD COLUMN IF NOT EXISTS
    packed String MATERIALIZED if(sign = 1 AND book > 'checkpoint', concat(
        reinterpretAsFixedString(toUInt8(book)),
        signature,
        reinterpretAsFixedString(id),
        reinterpretAsFixedString(version),
        reinterpretAsFixedString(count),
        reinterpretAsFixedString(toUnixTimestamp64Milli(first_seen)),
        reinterpretAsFixedString(toUnixTimestamp64Milli(last_seen)),
        reinterpretAsFixedString(toUInt8(level)),
        reinterpretAsFixedString(line),
        reinterpretAsFixedString(user_id),
        reinterpretAsFixedString(ip),
        reinterpretAsFixedString(toUInt8(status)),
        reinterpretAsFixedString(toUInt8(regressed)),
        reinterpretAsFixedString(toUInt32(length(file))),
        reinterpretAsFixedString(toUInt32(length(message_preview))),
        reinterpretAsFixedString(toUInt32(length(exception_class))),
        reinterpretAsFixedString(toUInt32(length(request_uri))),
        reinterpretAsFixedString(toUInt32(length(request_method))),
        file, message_preview, exception_class, request_uri, request_method), '')
    COMMENT 'all columns of a live record in one, to read whole records';
