-- The node that creates this table makes the granules; a node that finds it waits.
CREATE TABLE {{.Lock}} (nothing UInt8) ENGINE = Null
