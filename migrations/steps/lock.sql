-- Who makes this table makes the granules; who finds it waits.
CREATE TABLE {{.Lock}} (nothing UInt8) ENGINE = Null
