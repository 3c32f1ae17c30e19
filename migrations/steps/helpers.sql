SELECT arraySort(groupArray(name)) FROM system.tables WHERE database = currentDatabase() AND startsWith(name, ?)
