-- Links the parts, which copies no data. They keep their granules until they are
-- merged. The table is always a new one, so this is done to it once.
ALTER TABLE {{.Copy}} ATTACH PARTITION tuple() FROM records
