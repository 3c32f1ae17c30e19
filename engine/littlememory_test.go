//go:build linux

package engine_test

import "testing"

// TestMergeWithLittleMemory: a merge does not gather all rows of a projection in memory. (With
// a million rows, the engine's own default, this one needs more than there is, each time that it
// is tried.)
func TestMergeWithLittleMemory(t *testing.T) {
	cfg := config(t, t.TempDir())
	cfg.ClickHouseMemory = 512 << 20
	e := start(t, cfg)
	exec(t, e, `CREATE TABLE t (n UInt64, s String, sign Int8, PROJECTION by_s (SELECT s, n, sign ORDER BY s)) ENGINE = CollapsingMergeTree(sign) ORDER BY n
		SETTINGS deduplicate_merge_projection_mode = 'rebuild', max_bytes_to_merge_at_max_space_in_pool = 1`)
	const inserts, rows = 9, 100_000
	for range inserts {
		exec(t, e, "INSERT INTO t SELECT rand64(), randomPrintableASCII(200), 1 FROM numbers(100000)")
	}
	exec(t, e, "OPTIMIZE TABLE t FINAL")
	var parts, all uint64
	const count = "SELECT uniqExact(_part), count() FROM t"
	if err := e.ClickHouse().QueryRow(t.Context(), count).Scan(&parts, &all); err != nil {
		t.Fatal(err)
	}
	if parts != 1 || all != inserts*rows {
		t.Errorf("%d rows in %d parts, want %d rows in one", all, parts, inserts*rows)
	}
}
