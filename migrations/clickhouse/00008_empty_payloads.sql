-- +goose Up
-- Everything stands in contexts now. The table itself stays, so that the file
-- before this one can be applied again.
TRUNCATE TABLE IF EXISTS payloads;
