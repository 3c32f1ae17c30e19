-- +goose Up
-- A merge of occurrences takes about ten parts at once, in place of five. So each row is
-- written again half as often while events come, and a table may have twice as many parts.
-- Most queries read the occurrences of one record. With more parts that takes little longer.
ALTER TABLE occurrences MODIFY SETTING merge_selector_base = 10;
