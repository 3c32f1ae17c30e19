SELECT arraySort(groupArray(name)) FROM system.projections WHERE database = currentDatabase() AND table = ?
