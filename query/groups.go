package query

import "github.com/ClickHouse/clickhouse-go/v2"

// groupMemory is how much memory groups of records may take, a quarter of what a query may. Only
// tests change it.
var groupMemory uint64 = 128 << 20

// groupFile bounds the file of the other groups. Those of 10 M records take 320 MB.
const groupFile = 1 << 30

// groupSettings are for statements that group all occurrences by their records, which may be 10 M.
// Groups that take more memory go to a file: without, a query of so many would take more than it may.
// Of a subquery ClickHouse would keep the ids twice, once for the primary key; only with few that helps.
func groupSettings() clickhouse.Settings {
	return clickhouse.Settings{
		"max_bytes_before_external_group_by":          groupMemory,
		"max_temporary_data_on_disk_size_for_query":   groupFile,
		"use_index_for_in_with_subqueries_max_values": 100_000,
	}
}
