package projector_test

import (
	"net/netip"
	"testing"

	errata "github.com/errata-log/errata"
)

// TestMergesChangeNoTally: the checksum is the same before and after a merge, which drops a row
// and the row that cancels it. No column is empty, so each of them is tested.
func TestMergesChangeNoTally(t *testing.T) {
	l := newLedger(t)
	p, _ := l.start()
	l.barrier() // the tables are there, and have a row
	exec := func(statement string) {
		t.Helper()
		if err := l.ClickHouse.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	exec("SYSTEM STOP MERGES records")
	filled := func(id, environment, release string) errata.Event {
		e := event("a", id)
		e.File, e.Line, e.Class, e.URI, e.Method = "app.go", 42, "Timeout", "/checkout", "POST"
		e.UserID, e.IP, e.Mute, e.Noise, e.Level = 7, netip.MustParseAddr("2001:db8::1"), true, true, errata.LevelWarning
		e.Environment, e.Release = environment, release
		return e
	}
	l.append(filled("1", "production", "1.0"))
	l.barrier()
	l.append(filled("2", "staging", "1.1"))
	l.barrier()
	var cancelled uint64
	if err := l.ClickHouse.QueryRow(t.Context(), "SELECT count() FROM records WHERE sign = -1 AND book != 'checkpoint'").Scan(&cancelled); err != nil || cancelled != 1 {
		t.Fatalf("%d rows cancel others, want 1, %v", cancelled, err)
	}
	before, err := p.Store().Tally(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	exec("SYSTEM START MERGES records")
	exec("OPTIMIZE TABLE records FINAL SETTINGS optimize_throw_if_noop = 1")
	after, err := p.Store().Tally(t.Context())
	if err != nil || after != before || after.Records != 1 || after.Count != 2 {
		t.Errorf("before the merge %+v, after it %+v, %v", before, after, err)
	}
}
