SELECT arrayStringConcat(groupArray(toString(uuid))) FROM system.tables WHERE database = currentDatabase() AND name = ?
