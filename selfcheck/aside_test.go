package selfcheck_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/internal/background"
)

// ClickHouse sets aside a part that it cannot load at its start. The check names the
// part and what was done, also after another restart, and counts it once.
func TestPartsSetAsideAreTold(t *testing.T) {
	for _, table := range []string{"records", "contexts", "hourly", "deployments", "occurrences"} {
		t.Run(table, func(t *testing.T) {
			h := newHouse(t)
			h.exec("SYSTEM STOP MERGES " + table)
			h.fill()
			if err := h.checker.Look(t.Context()); err != nil {
				t.Fatal(err)
			}
			folders := h.folders(table)
			folder := folders[len(folders)-1]
			removed(t, h.file(folder, "data.bin"))
			h.restart()
			h.barrier()
			if err := h.checker.Look(t.Context()); err != nil {
				t.Fatal(err)
			}
			first := h.checker.Last().Mended
			told := h.checker.Check(t.Context())
			if !told.OK || !strings.Contains(told.Detail, "the last mend was at 2") || !strings.Contains(told.Detail, "table "+table) {
				t.Errorf("an operator is told: %+v", told)
			}
			h.send("seen afterwards, broken")
			h.whole()
			h.restart()
			if err := h.checker.Look(t.Context()); err != nil {
				t.Fatal(err)
			}
			if later := h.checker.Last().Mended; later.What != first.What || !later.At.Equal(first.At) {
				t.Errorf("after another start the last mend is %v, was %v", later, first)
			}
		})
	}
}

// mergeAll merges all parts of the table into one. ClickHouse leaves out parts that are in a
// merge or a mutation already.
func (h *house) mergeAll(table string) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	for len(h.folders(table)) > 1 {
		h.exec("OPTIMIZE TABLE " + table + " FINAL")
		if !background.Wait(ctx, 50*time.Millisecond) {
			h.t.Fatalf("%d parts are left", len(h.folders(table)))
		}
	}
}

// ClickHouse cannot load the result of a merge, and loads the merged parts instead,
// which are still there: nothing is missing, so nothing is made again. A mutation has
// taken a number between theirs.
func TestMergedPartSetAside(t *testing.T) {
	for _, table := range []string{"contexts", "hourly", "deployments", "occurrences"} {
		t.Run(table, func(t *testing.T) {
			h := newHouse(t)
			h.exec("ALTER TABLE " + table + " MODIFY SETTING old_parts_lifetime = 600")
			h.exec("SYSTEM STOP MERGES " + table)
			h.fill()
			h.exec("ALTER TABLE " + table + " DELETE WHERE 0 SETTINGS mutations_sync = 0")
			h.send("broken thing x", "broken thing y") // contexts come with new problems alone
			h.exec("SYSTEM START MERGES " + table)
			h.mergeAll(table)
			// Otherwise a merge might do it again before the look.
			h.exec("ALTER TABLE " + table + " MODIFY SETTING max_bytes_to_merge_at_max_space_in_pool = 1, max_bytes_to_merge_at_min_space_in_pool = 1")
			if err := h.checker.Look(t.Context()); err != nil { // it notes the merged part in the mark
				t.Fatal(err)
			}
			folders := h.folders(table)
			truncated(t, h.file(folders[0], "data.bin"))
			h.restart()
			h.barrier()
			if parts := h.folders(table); len(parts) < 3 {
				t.Fatalf("ClickHouse has loaded %v", parts)
			}
			if err := h.checker.Look(t.Context()); err != nil {
				t.Fatal(err)
			}
			if what := h.checker.Last().Mended.What; !strings.Contains(what, filepath.Base(folders[0])) {
				t.Errorf("an operator is told %q", what)
			}
			if h.rebuilt > 0 || len(h.board.raised) > 0 {
				t.Errorf("the records were made again %d times, alarms: %v", h.rebuilt, h.board.raised)
			}
			h.send("seen afterwards, broken")
			h.whole()
		})
	}
}
