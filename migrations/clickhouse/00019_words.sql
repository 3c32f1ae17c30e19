-- +goose Up
-- What a search sees beside the row of a record. A row is written again with each
-- batch that counts its record, so it has no long texts; a context is written once.
--
-- words is a pure function of the context, in lower case. Its first line is the
-- message, when the preview in the row does not hold all of it, else it is empty.
-- The classes and the messages of the causes and the transaction follow, a line
-- each: line feeds and tabs within a text are blanks. The last exception is the
-- thrown one, which the row has. A context that is emptied has no words.
ALTER TABLE contexts ADD COLUMN IF NOT EXISTS
    words String MATERIALIZED lowerUTF8(arrayMap(
        context -> if(context.1 = '' AND empty(context.2), '', concat(context.1, '\n', arrayStringConcat(context.2, '\n'))),
        arrayMap(
            seen -> (
                if(lengthUTF8(seen.message) <= 200 AND NOT match(seen.message, '[\\t\\n]|^ | $'), '', translate(seen.message, '\n\t', '  ')),
                arrayFilter(text -> text != '', arrayMap(text -> translate(text, '\n\t', '  '), arrayConcat(
                    arrayFlatten(arrayMap(cause -> [cause.class, cause.message], arrayPopBack(seen.exceptions))),
                    [seen.transaction])))),
            [JSONExtract(payload, 'Tuple(message String, exceptions Array(Tuple(class String, message String)), transaction String)')]))[1])
    COMMENT 'what a search sees beside the record: the whole message, causes and transaction in lower case' CODEC(ZSTD(1));
ALTER TABLE contexts ADD INDEX IF NOT EXISTS ix_words words TYPE text(tokenizer = ngrams(3));

-- An id is looked for as a whole, and its digits are in no index of texts: they
-- would be found in every search for digits.
ALTER TABLE contexts ADD COLUMN IF NOT EXISTS
    event_id String MATERIALIZED arrayMap(
        digits -> if(match(digits, '^[0-9a-f]{32}$'), unhex(digits), ''),
        [replaceAll(lower(JSONExtractString(payload, 'event_id')), '-', '')])[1]
    COMMENT 'the id of the first event, if it is a UUID: 16 bytes';
ALTER TABLE contexts ADD INDEX IF NOT EXISTS ix_event_id event_id TYPE bloom_filter(0.01) GRANULARITY 1;

-- Contexts that were erased (gone = 2) are few, and every search asks for them.
ALTER TABLE contexts ADD INDEX IF NOT EXISTS ix_gone gone TYPE minmax GRANULARITY 1;

-- Contexts of before are filled in the background; until then their words are worked
-- out when a search reads them.
ALTER TABLE contexts MATERIALIZE COLUMN words, MATERIALIZE COLUMN event_id,
    MATERIALIZE INDEX ix_words, MATERIALIZE INDEX ix_event_id, MATERIALIZE INDEX ix_gone;

-- texts instead of search: with the line of the file. It has another name, because a
-- column that goes may be there until its parts are written again.
ALTER TABLE records ADD COLUMN IF NOT EXISTS
    texts String MATERIALIZED lowerUTF8(concat(message_preview, '\n', exception_class, '\n', file, if(line > 0, concat(':', toString(line)), ''), '\n', request_uri))
    COMMENT 'message, class, file with its line, and request address in lower case, a line each';
ALTER TABLE records ADD INDEX IF NOT EXISTS ix_texts texts TYPE text(tokenizer = ngrams(3));

-- A column that is still being written in the background cannot go.
KILL MUTATION WHERE database = currentDatabase() AND table = 'records' AND NOT is_done AND command LIKE '%MATERIALIZE COLUMN%search%' SYNC;
ALTER TABLE records DROP INDEX IF EXISTS ix_search;
ALTER TABLE records DROP COLUMN IF EXISTS search;
ALTER TABLE records MATERIALIZE COLUMN texts, MATERIALIZE INDEX ix_texts;
