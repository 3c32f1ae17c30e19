-- ClickHouse forgets this when it is restarted. A running merge is told to end, and
-- one that has passed its last check takes effect all the same.
SYSTEM STOP MERGES {table:Identifier}
