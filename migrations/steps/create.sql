-- Columns, comments, constraints, indexes and projections are those of records;
-- the engine and its settings are given, with other granules.
CREATE TABLE {{.Copy}} AS records ENGINE = {{.Engine}}
