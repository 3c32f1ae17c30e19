-- Links the parts, which costs no copy. They keep their granules until they are
-- merged. The copy is new, so that this is done to it once.
ALTER TABLE {{.Copy}} ATTACH PARTITION tuple() FROM records
