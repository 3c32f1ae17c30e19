package selfcheck_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/selfcheck"
)

// restart kills the service and ClickHouse, and starts both.
func (h *house) restart() {
	h.t.Helper()
	h.KillClickHouse()
	h.stop()
	h.start()
	h.t.Cleanup(h.stop)
}

func removed(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
}

// A part in the middle of the records is missing after a kill, or cannot be read:
// the records are made again from the log.
func TestOlderPartIsMadeAgain(t *testing.T) {
	for name, harm := range map[string]func(t *testing.T, folder string, h *house){
		"folder deleted":       func(t *testing.T, folder string, _ *house) { removed(t, folder) },
		"data truncated":       func(t *testing.T, folder string, h *house) { truncated(t, h.file(folder, "data.bin")) },
		"skip index truncated": func(t *testing.T, folder string, h *house) { truncated(t, h.file(folder, "skp_idx_ix_user.*mrk*")) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.fill()
			harm(t, h.filled()[1], h)
			h.restart()
			h.mended(selfcheck.AlarmRecords, "the checkpoint says 9 records that count 12, the table holds")
		})
	}
}

// A young part is missing and no merge has hidden that: only the facts since then
// are folded again.
func TestYoungLossIsTakenBack(t *testing.T) {
	h := newHouse(t)
	h.fill()
	folders := h.filled()
	h.exec("ALTER TABLE records DROP PART '" + filepath.Base(folders[len(folders)-2]) + "'")
	h.mended(selfcheck.AlarmRecords, "the table holds")
	if h.rebuilt > 0 {
		t.Errorf("all records were made again for what was written in the last minutes")
	}
}

// No merge hides damage before the first look: neither rows that are missing nor
// an index that the merge would make anew.
func TestMergesAreHeld(t *testing.T) {
	merge := func(h *house) error {
		return h.ClickHouse.Exec(t.Context(), "OPTIMIZE TABLE records FINAL SETTINGS optimize_throw_if_noop = 1")
	}
	for name, harm := range map[string]func(h *house){
		"nothing":      func(*house) {},
		"rows missing": func(h *house) { removed(t, h.filled()[1]) },
		"skip index":   func(h *house) { flipped(t, h.file(h.filled()[1], "skp_idx_ix_user.idx*")) },
		"projection":   func(h *house) { flipped(t, h.file(h.filled()[1], "by_group.proj/data.bin")) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			// Otherwise a merge might begin between the kill and the hold.
			h.exec("ALTER TABLE records MODIFY SETTING max_bytes_to_merge_at_max_space_in_pool = 1, max_bytes_to_merge_at_min_space_in_pool = 1")
			h.fill()
			harm(h)
			h.restart()
			h.send("seen afterwards")
			if merge(h) == nil {
				t.Error("the records are merged before the first look")
			}
			if err := h.checker.Look(t.Context()); err != nil {
				t.Fatal(err)
			}
			if mended := !h.checker.Last().Mended.At.IsZero(); mended != (name != "nothing") {
				t.Errorf("the first look mended %+v", h.checker.Last().Mended)
			}
			if err := merge(h); err != nil {
				t.Errorf("merges are held after the first look: %v", err)
			}
		})
	}
}

// A row is missing although no part is: all records are made again from the first
// fact of the log, beside the live ones.
func TestRecordsAreMadeAgain(t *testing.T) {
	h := newHouse(t)
	h.fill()
	h.exec("SYSTEM START MERGES records")
	h.exec("OPTIMIZE TABLE records FINAL")
	h.exec("DELETE FROM records WHERE message_preview = 'broken thing a'")
	h.mended(selfcheck.AlarmRecords, "the checkpoint says 9 records that count 12, the table holds 8 that count 11")
	if h.rebuilt != 1 {
		t.Errorf("the records were made again %d times", h.rebuilt)
	}
}

// A part of a table without totals is missing: the mark shows that.
func TestPartOfAnotherTableIsMissed(t *testing.T) {
	for _, table := range []string{"contexts", "hourly", "deployments", "occurrences"} {
		for _, all := range []bool{false, true} {
			t.Run(table, func(t *testing.T) {
				h := newHouse(t)
				h.exec("SYSTEM STOP MERGES " + table)
				h.fill()
				if err := h.checker.Look(t.Context()); err != nil { // it notes the parts in the mark
					t.Fatal(err)
				}
				folders := h.folders(table)
				if !all {
					folders = folders[:1]
				}
				removed(t, folders...)
				h.restart()
				h.mended(selfcheck.AlarmParts, "table "+table)
			})
		}
	}
}

// All parts are deleted: the projection is made again at once and equals the old
// one, although ClickHouse still knows the tokens of the old inserts.
func TestAllPartsDeleted(t *testing.T) {
	h := newHouse(t)
	h.fill()
	if err := h.checker.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"records", "contexts", "hourly", "deployments", "occurrences"} {
		removed(t, h.folders(table)...)
	}
	h.restart()
	began := time.Now()
	h.barrier()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v to fold the log again", took)
	}
	for range 3 {
		if err := h.checker.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	h.send("seen afterwards, broken")
	h.whole()
}

// cut purges the log before its last fact. With snapshot the records before that
// are kept in one.
func (h *house) cut(snapshot bool) {
	h.t.Helper()
	state, err := eventlog.Inspect(h.t.Context(), h.log)
	if err != nil {
		h.t.Fatal(err)
	}
	keep := state.Last
	if _, err := h.commander.Do(h.t.Context(), eventlog.CommandSnapshot, eventlog.Snapshot{Keep: keep}); err != nil {
		h.t.Fatal(err)
	}
	if err := eventlog.Purge(h.t.Context(), h.log, keep); err != nil {
		h.t.Fatal(err)
	}
	if !snapshot {
		h.exec("DROP DATABASE `" + h.Database + projector.SnapshotSuffix + "` SYNC")
	}
}

// All parts are deleted after a purge of the log: the older records come from the
// snapshot, and an alarm is raised.
func TestAllPartsDeletedAfterAPurge(t *testing.T) {
	h := newHouse(t)
	h.fill()
	h.cut(true)
	h.send("after the purge, broken")
	removed(t, h.folders("records")...)
	h.restart()
	h.mended(selfcheck.AlarmRecords, "the log begins at")
}

// There is no snapshot either: the facts that the log still holds are folded, and
// the alarm stays and says what to do.
func TestRecordsThatNothingMakesAgain(t *testing.T) {
	h := newHouse(t)
	h.fill()
	h.cut(false)
	removed(t, h.folders("records")...)
	h.restart()
	if err := h.checker.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.model = map[string]uint64{}
	h.send("after the loss, broken")
	if err := h.checker.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.answers("lost")
	if hint := h.board.standing[selfcheck.AlarmRecords]; !strings.Contains(hint, "Restore the data folder from a backup") {
		t.Errorf("the alarms that stand are %v", h.board.standing)
	}
}

// The records that nothing makes again are those of another node, once that gives them.
func TestRecordsOfAnotherNode(t *testing.T) {
	h := newHouse(t)
	h.fill()
	h.cut(false)
	kept := h.Database + "_kept"
	h.exec("CREATE DATABASE `" + kept + "`")
	t.Cleanup(func() {
		if err := h.ClickHouse.Exec(context.WithoutCancel(t.Context()), "DROP DATABASE `"+kept+"` SYNC"); err != nil {
			t.Error(err)
		}
	})
	var tables []string
	for _, table := range []string{"contexts", "latest_contexts", "hourly", "deployments", "occurrences", "records"} {
		h.exec("CREATE TABLE `" + kept + "`." + table + " AS " + table)
		h.exec("ALTER TABLE `" + kept + "`." + table + " ATTACH PARTITION tuple() FROM " + table)
		tables = append(tables, table)
		removed(t, h.folders(table)...)
	}
	tries := 0
	h.take = func(context.Context) error {
		if tries++; tries == 1 {
			return errors.New("no other node is there")
		}
		if err := h.projector.Stop(t.Context()); err != nil {
			return err
		}
		defer h.projector.Start()
		for _, table := range tables {
			if err := h.ClickHouse.Exec(t.Context(), "EXCHANGE TABLES "+table+" AND `"+kept+"`."+table); err != nil {
				return err
			}
		}
		return nil
	}
	h.restart()
	if err := h.checker.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if hint := h.board.standing[selfcheck.AlarmRecords]; !strings.Contains(hint, "no other node is there") || !strings.Contains(hint, "--records") {
		t.Errorf("the alarms that stand are %v", h.board.standing)
	}
	h.ahead = 11 * time.Second // the pause after a try is over
	h.mended(selfcheck.AlarmRecords, "the log begins at")
	if tries != 2 {
		t.Errorf("the records were taken %d times, want at the second try", tries)
	}
}

// The log does not reach back to the damage: the records stay as they are, and the
// alarm says so.
func TestDifferenceThatTheLogDoesNotReach(t *testing.T) {
	h := newHouse(t)
	h.fill()
	h.cut(false)
	h.exec("SYSTEM START MERGES records")
	h.exec("DELETE FROM records WHERE message_preview = 'broken thing a'")
	delete(h.model, "broken thing a")
	if err := h.checker.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.answers("not mended")
	if hint := h.board.standing[selfcheck.AlarmRecords]; !strings.Contains(hint, "The log does not reach back") {
		t.Errorf("the alarms that stand are %v", h.board.standing)
	}
}

// A clean stop writes the mark, and a start with a damaged mark looks all the same.
func TestCleanStopIsNoted(t *testing.T) {
	h := newHouse(t)
	h.fill()
	if err := h.checker.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := h.checker.Stopped(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(h.mark); err != nil {
		t.Errorf("the mark of a clean stop: %v", err)
	}
	if err := os.WriteFile(h.mark, nil, 0o600); err != nil { // as a power cut leaves it
		t.Fatal(err)
	}
	h.restart()
	if err := h.checker.Look(t.Context()); err != nil {
		t.Errorf("with a mark that is spoilt: %v", err)
	}
	h.whole()
}

// A part of the hours is deleted before any look has noted it: the look finds that
// all the same, because the other parts hold fewer events than were counted.
func TestHoursThatNobodyHasSeen(t *testing.T) {
	h := newHouse(t)
	h.exec("SYSTEM STOP MERGES hourly")
	h.fill()
	folders := h.folders("hourly")
	removed(t, folders[len(folders)/2])
	removed(t, h.mark)
	h.restart()
	h.mended(selfcheck.AlarmParts, "its parts hold ")
}

// The log has a gap that nobody has decided about: the records may still hold its
// facts, so they are neither taken back nor made again before the decision.
func TestNothingIsMadeAgainFromALogThatLacksSomething(t *testing.T) {
	h := newHouse(t)
	h.fill()
	folders := h.filled()
	h.exec("ALTER TABLE records DROP PART '" + filepath.Base(folders[len(folders)-2]) + "'")
	left := h.folders("records")
	h.undecided = errors.New("facts 3 to 4 are gone")
	if err := h.checker.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now := h.folders("records"); h.rebuilt > 0 || !slices.Equal(now, left) {
		t.Errorf("the records were made again %d times, and their parts are %v, were %v", h.rebuilt, now, left)
	}
	if hint := h.board.standing[selfcheck.AlarmRecords]; !strings.Contains(hint, "errata log accept") {
		t.Errorf("the alarms that stand are %v", h.board.standing)
	}
	h.undecided, h.ahead = nil, time.Minute // the next try
	h.mended(selfcheck.AlarmRecords, "the table holds")
}

// The gap is met only while the log is folded again: the records stay as they are
// then, too.
func TestNothingTakesThePlaceOfRecordsThatTheLogLacks(t *testing.T) {
	h := newHouse(t)
	h.fill()
	h.exec("SYSTEM START MERGES records")
	h.exec("OPTIMIZE TABLE records FINAL")
	h.exec("DELETE FROM records WHERE message_preview = 'broken thing a'")
	left := h.folders("records")
	h.met = errors.New("facts 3 to 4 are gone")
	if err := h.checker.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now := h.folders("records"); h.rebuilt != 1 || !slices.Equal(now, left) {
		t.Errorf("after %d tries the parts of the records are %v, were %v", h.rebuilt, now, left)
	}
	h.met, h.ahead = nil, time.Minute
	h.mended(selfcheck.AlarmRecords, "the table holds")
}
