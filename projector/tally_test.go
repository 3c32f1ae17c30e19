package projector_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// merged are the tables that a tally reads and whose rows a merge makes fewer.
var merged = []string{"records", "hourly", "deployments", "contexts"}

// TestMergesChangeNoTally: a tally is the same before and after merges. A merge drops a row of the
// records together with the row that cancels it, and adds up the hours. No column is empty, so
// each of them is tested.
func TestMergesChangeNoTally(t *testing.T) {
	l := newLedger(t)
	p, _ := l.tidying(l.config(), make(chan time.Time)) // never looks: what is removed stays on the disk
	l.run(p)
	l.barrier() // the tables are there, and have a row
	for _, table := range merged {
		l.exec("SYSTEM STOP MERGES " + table)
	}
	filled := func(id, release string) errata.Event {
		e := event("a", id)
		e.File, e.Line, e.Class, e.URI, e.Method = "app.go", 42, "Timeout", "/checkout", "POST"
		e.UserID, e.IP, e.Mute, e.Noise, e.Level = 7, netip.MustParseAddr("2001:db8::1"), true, true, errata.LevelWarning
		e.Environment, e.Release = "production", release
		return e
	}
	for id, release := range []string{"1.0", "1.0", "1.1"} {
		l.append(filled(fmt.Sprint(id), release))
		l.barrier()
	}
	removed := event("removed", "gone")
	l.append(removed)
	l.barrier()
	l.do(eventlog.CommandDelete, eventlog.Signatures{Signatures: []string{removed.Signature.String()}}, 1)
	if rows := l.rowsOnDisk(); rows != 4 {
		t.Fatalf("%d occurrences are on the disk, want those of the removed record too", rows)
	}
	if cancelled := l.number("SELECT count() FROM records WHERE sign = -1 AND book != 'checkpoint'"); cancelled != 3 {
		t.Fatalf("%d rows cancel others, want 3", cancelled)
	}
	before := l.tally(p)
	for _, table := range merged {
		l.exec("SYSTEM START MERGES " + table)
		l.exec("OPTIMIZE TABLE " + table + " FINAL SETTINGS optimize_throw_if_noop = 1")
	}
	if after := l.tally(p); after != before || after.Records != 1 || after.Count != 3 || after.Occurred != 3 {
		t.Errorf("before the merge %+v, after it %+v", before, after)
	}
}
