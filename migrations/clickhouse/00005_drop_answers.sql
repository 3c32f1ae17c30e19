-- +goose Up
-- Answers stand in records now, in the block of the checkpoint that passes
-- their command: a projector that lost the race for that block had written
-- its answer here all the same.
DROP TABLE IF EXISTS answers;
