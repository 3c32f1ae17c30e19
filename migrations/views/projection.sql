CREATE OR REPLACE VIEW {{.Views}}.projection
(
    shard          UInt16 COMMENT 'which projector; 0 for the only one',
    sequence       UInt64 COMMENT 'the last message of the log that is in `records`',
    hours_sequence UInt64 COMMENT 'the message up to which events are counted in `occurrences_hourly`; later ones had none',
    events         UInt64 COMMENT 'occurrences counted so far, those of deleted records too',
    duplicates     UInt64 COMMENT 'events that were recognised as sent again, and not counted',
    off            UInt64 COMMENT 'events that came while recording was switched off',
    poison         UInt64 COMMENT 'blocks of the log that could not be read',
    recording_off  Bool COMMENT 'events are not counted at the moment',
    window_from    UInt64 COMMENT 'the first message whose event ids are remembered',
    window_time    DateTime64(3, 'UTC') COMMENT 'when that message was taken',
    log_made       DateTime64(9, 'UTC') COMMENT 'when the log was made; sequences mean nothing in another log'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER
AS SELECT
    reinterpretAsUInt16(reverse(substring(signature, 15, 2))) AS shard,
    JSONExtractUInt(checkpoint, 'sequence') AS sequence,
    h.sequence AS hours_sequence,
    count AS events,
    JSONExtractUInt(checkpoint, 'duplicates') AS duplicates,
    JSONExtractUInt(checkpoint, 'off') AS off,
    JSONExtractUInt(checkpoint, 'poison') AS poison,
    toBool(JSONExtractBool(checkpoint, 'recording_off')) AS recording_off,
    JSONExtractUInt(checkpoint, 'window_from') AS window_from,
    fromUnixTimestamp64Milli(JSONExtractInt(checkpoint, 'window_time'), 'UTC') AS window_time,
    fromUnixTimestamp64Nano(JSONExtractInt(checkpoint, 'log'), 'UTC') AS log_made
FROM {{.Tables}}.records AS r FINAL
-- Answers to commands are rows of the same book, under keys that begin with
-- ones; the key of a projector is its number with zeros in front.
LEFT JOIN
(
    SELECT signature AS shard_key, max(sequence) AS sequence
    FROM {{.Tables}}.hourly
    WHERE book = 'checkpoint'
    GROUP BY signature
) AS h ON h.shard_key = r.signature
WHERE r.book = 'checkpoint' AND startsWith(r.signature, unhex('0000000000000000000000000000'))
COMMENT 'How far the log is folded: one row for each projector.'
