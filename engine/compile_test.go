//go:build linux

package engine_test

import "testing"

// An insert computes sums for each ClickHouse projection, and so does a merge that
// cancels rows. Each of them used to compile the sums anew, which took longer than the
// rest.
func TestNothingIsCompiled(t *testing.T) {
	e := start(t, config(t, t.TempDir()))
	exec(t, e, `CREATE TABLE t (n UInt64, s Int8, v UInt8, PROJECTION sums (SELECT n % 7, sum(s), count() GROUP BY n % 7))
		ENGINE = VersionedCollapsingMergeTree(s, v) ORDER BY n SETTINGS deduplicate_merge_projection_mode = 'rebuild'`)
	for range 5 { // it compiles an expression at its third use
		exec(t, e, "INSERT INTO t SELECT number, 1, 1 FROM numbers(1000)")
		exec(t, e, "OPTIMIZE TABLE t FINAL")
		for _, query := range []string{"SELECT n % 7, sum(s), count() FROM t GROUP BY n % 7 ORDER BY n % 7, sum(s)", "SELECT n * n + 2 * n - 1 FROM t"} {
			exec(t, e, query)
			if err := e.ReadOnlyClickHouse().Exec(t.Context(), query); err != nil {
				t.Fatal(err)
			}
		}
	}
	var compiled uint64
	if err := e.ClickHouse().QueryRow(t.Context(), "SELECT sum(value) FROM system.events WHERE event = 'CompileFunction'").Scan(&compiled); err != nil {
		t.Fatal(err)
	}
	if compiled > 0 {
		t.Errorf("%d functions were compiled, want none", compiled)
	}
}
