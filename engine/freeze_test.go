//go:build linux

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/engine"
)

// copyParts copies frozen parts to a folder, as a backup does.
func copyParts(t *testing.T, tables []engine.FrozenTable, to string) {
	t.Helper()
	for _, table := range tables {
		for _, p := range table.Parts {
			if err := os.CopyFS(filepath.Join(to, table.Database, table.Name, p.Name), os.DirFS(p.Folder())); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func scanText(t *testing.T, e *engine.Engines, query string) (answer string) {
	t.Helper()
	if err := e.ClickHouse().QueryRow(t.Context(), query).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return answer
}

// TestFrozenTables: tables that are restored from frozen parts are as they were at that
// moment: also the order in which rows were written, partitions, deleted rows and what
// was inserted afterwards.
func TestFrozenTables(t *testing.T) {
	e := start(t, config(t, t.TempDir()))
	exec(t, e, "CREATE DATABASE second")
	exec(t, e, "CREATE TABLE latest (k UInt8, v String) ENGINE = ReplacingMergeTree ORDER BY k")
	exec(t, e, "CREATE TABLE second.days (d Date, v UInt64, PROJECTION sums (SELECT d, sum(v) GROUP BY d)) ENGINE = MergeTree PARTITION BY d ORDER BY v SETTINGS lightweight_mutation_projection_mode = 'rebuild'")
	exec(t, e, "CREATE TABLE empty (v String) ENGINE = MergeTree ORDER BY v")
	exec(t, e, "CREATE VIEW names AS SELECT name FROM system.tables")
	exec(t, e, "SYSTEM STOP MERGES latest")
	for i := range 12 { // the name of part 10 comes before that of part 2
		exec(t, e, fmt.Sprintf("INSERT INTO latest VALUES (1, '%d')", i))
		exec(t, e, fmt.Sprintf("INSERT INTO second.days SELECT toDate('2026-01-01') + %d, number FROM numbers(100)", i%4))
	}
	exec(t, e, "DELETE FROM second.days WHERE v = 7")
	const latest, days = "SELECT v FROM latest FINAL", "SELECT toString((count(), sum(v), uniq(d))) FROM second.days"
	wanted := map[string]string{latest: scanText(t, e, latest), days: scanText(t, e, days)}
	if wanted[latest] != "11" || !strings.HasPrefix(wanted[days], "(1188,") {
		t.Fatalf("before: %v", wanted)
	}

	tables, err := e.Freeze(t.Context(), engine.BackupLinks, e.Database(), "second", "nowhere")
	if err != nil {
		t.Fatal(err)
	}
	if len(tables) != 3 || len(tables[1].Parts) != 12 || len(tables[0].Parts) != 0 {
		t.Fatalf("frozen: %+v", tables)
	}
	exec(t, e, "INSERT INTO latest VALUES (1, 'later')")
	exec(t, e, "SYSTEM START MERGES latest")
	exec(t, e, "OPTIMIZE TABLE latest FINAL")
	exec(t, e, "DROP TABLE second.days SYNC")
	copied := t.TempDir()
	copyParts(t, tables, copied)
	if err := e.Thaw(engine.BackupLinks); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(tables[1].Parts[0].Folder()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the links are still there: %v", err)
	}

	other := start(t, config(t, t.TempDir()))
	for _, table := range tables {
		if err := other.PutTable(t.Context(), table, filepath.Join(copied, table.Database, table.Name)); err != nil {
			t.Fatal(err)
		}
	}
	for query, want := range wanted {
		if got := scanText(t, other, query); got != want {
			t.Errorf("%s: restored %s, want %s", query, got, want)
		}
	}
	if tables[1].Name, tables[1].Create = "again", strings.Replace(tables[1].Create, "latest", "again", 1); tables[1].Parts[0].Rows != 1 {
		t.Fatalf("%+v", tables[1])
	}
	tables[1].Parts[0].Rows = 2
	if err := other.PutTable(t.Context(), tables[1], filepath.Join(copied, e.Database(), "latest")); err == nil || !strings.Contains(err.Error(), "13") {
		t.Errorf("a part that lacks a row: %v", err)
	}
}

// lateContext has a deadline and does not notice that it passes, as a context whose timer
// a busy machine has not run yet.
type lateContext struct {
	context.Context
	deadline time.Time
}

func (c lateContext) Deadline() (time.Time, bool) { return c.deadline, true }

// TestFreezeWaitsForMutations: a part that waits for its mutation is not frozen.
func TestFreezeWaitsForMutations(t *testing.T) {
	e := start(t, config(t, t.TempDir()))
	exec(t, e, "CREATE TABLE t (v UInt64) ENGINE = MergeTree ORDER BY v")
	exec(t, e, "INSERT INTO t SELECT number FROM numbers(10)")
	exec(t, e, "SYSTEM STOP MERGES t") // and mutations
	exec(t, e, "ALTER TABLE t DELETE WHERE v < 5 SETTINGS mutations_sync = 0")
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := e.Freeze(ctx, engine.BackupLinks, e.Database()); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("frozen before the mutation: %v", err)
	}
	if _, err := e.Freeze(lateContext{t.Context(), time.Now().Add(500 * time.Millisecond)}, engine.BackupLinks, e.Database()); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the connection ends before the context: %v", err)
	}
	exec(t, e, "SYSTEM START MERGES t")
	tables, err := e.Freeze(t.Context(), engine.BackupLinks, e.Database())
	if err != nil || len(tables) != 1 || len(tables[0].Parts) != 1 || tables[0].Parts[0].Rows != 5 {
		t.Errorf("frozen: %+v, %v", tables, err)
	}
	if err := e.Thaw(engine.BackupLinks); err != nil {
		t.Fatal(err)
	}
}
