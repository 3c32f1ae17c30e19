-- Projections of a part that ClickHouse knows to be broken: it passes over them.
SELECT name
FROM system.projection_parts
WHERE database = currentDatabase() AND table = {table:String} AND parent_name = {part:String} AND active AND is_broken
