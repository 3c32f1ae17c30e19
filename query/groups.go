package query

import "github.com/ClickHouse/clickhouse-go/v2"

// groupMemory is from how much memory on the groups of a query go to a file: a quarter of what it
// may take. Only tests change it.
var groupMemory uint64 = 128 << 20

// groupFile bounds that file. By estimate the groups of 10 M records take 320 MB.
const groupFile = 1 << 30

// groupSettings are for statements that group occurrences by their records. There may be 10 M
// groups, which need more memory than a query may take, so part of them goes to a file. Of the ids
// of a subquery ClickHouse makes a second copy, to look them up in the primary key; that pays for few
// ids only.
func groupSettings() clickhouse.Settings {
	return clickhouse.Settings{
		"max_bytes_before_external_group_by":          groupMemory,
		"max_temporary_data_on_disk_size_for_query":   groupFile,
		"use_index_for_in_with_subqueries_max_values": 100_000,
	}
}
