package projector_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
)

// rowsOnDisk are the rows of occurrences in parts, with those that are deleted and not
// merged away; the row of the checkpoint is left out.
func (l *ledger) rowsOnDisk() uint64 {
	l.t.Helper()
	return l.number("SELECT sum(rows) FROM system.parts WHERE active AND database = currentDatabase() AND table = 'occurrences'") -
		l.number("SELECT count() FROM occurrences WHERE book = 'checkpoint'")
}

// numbers are the numbers of the occurrences, by record and along the log.
func (l *ledger) numbers() string {
	l.t.Helper()
	var numbers string
	const query = "SELECT toString(groupArray(numbers)) FROM (SELECT groupArray(number) AS numbers FROM " +
		"(SELECT signature, id, number FROM occurrences WHERE book > 'checkpoint' ORDER BY position) GROUP BY signature, id ORDER BY min(id))"
	if err := l.ClickHouse.QueryRow(l.t.Context(), query).Scan(&numbers); err != nil {
		l.t.Fatal(err)
	}
	return numbers
}

// TestGoneOccurrencesLeaveTheDisk: what a delete, a command over a filter and a cleanup
// have removed is deleted beside the fold, at the first look also what an earlier
// process has left, and a day later it is off the disk. A problem that is seen again
// begins with number 1.
func TestGoneOccurrencesLeaveTheDisk(t *testing.T) {
	l := newLedger(t)
	_, stop := l.start()
	for i := range 12 {
		l.append(event(fmt.Sprint("problem ", i/3), fmt.Sprint(i)))
	}
	l.barrier()
	remove := func(command string, body any) {
		t.Helper()
		if _, err := l.commander.Do(t.Context(), command, body); err != nil {
			t.Fatal(err)
		}
	}
	of := func(n int) eventlog.Signatures {
		return eventlog.Signatures{Signatures: []string{event(fmt.Sprint("problem ", n), "").Signature.String()}}
	}
	remove(eventlog.CommandDelete, of(0))
	l.append(event("problem 0", "again"))
	l.barrier()
	stop()
	if rows, numbers := l.rowsOnDisk(), l.numbers(); rows != 13 || numbers != "[[1,2,3],[1,2,3],[1,2,3],[1,2,3],[1]]" {
		t.Fatalf("%d rows before the first look, numbers %s", rows, numbers)
	}

	p, clock := l.tidying(l.config(), nil)
	wantAfterLook := func(want string) {
		t.Helper()
		clock.advance(time.Hour)
		l.look(p)
		if numbers := l.numbers(); numbers != want {
			t.Errorf("after a look the numbers are %s, want %s", numbers, want)
		}
		if live := l.live(); live != int64(strings.Count(want, "1")) {
			t.Errorf("%d records, want those of %s", live, want)
		}
	}
	wantAfterLook("[[1,2,3],[1,2,3],[1,2,3],[1]]")
	// p looks for itself only while it is not running.
	change := func(command string, body any) {
		t.Helper()
		p.Start()
		remove(command, body)
		if err := p.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	change(eventlog.CommandMatching, eventlog.Matching{Filter: []byte(`{"search":"\"problem 1\""}`)})
	wantAfterLook("[[1,2,3],[1,2,3],[1]]")
	change(eventlog.CommandCleanup, eventlog.Cleanup{Before: time.Now().Add(time.Hour).UnixMilli()})
	wantAfterLook("[]")
	clock.advance(25 * time.Hour)
	for range tables {
		l.look(p)
		clock.advance(time.Hour)
	}
	if rows := l.rowsOnDisk(); rows != 0 {
		t.Errorf("%d rows are still on the disk", rows)
	}
}

// TestOccurrencesAfterAnOlderVersion: the occurrences of an older version's record begin
// with the next event, whose number is right. A replay makes all of them, and the replay
// after that compares them.
func TestOccurrencesAfterAnOlderVersion(t *testing.T) {
	l := newLedger(t)
	p, stop := l.start()
	for i := range 3 {
		l.append(event("a problem", fmt.Sprint(i)))
	}
	l.barrier()
	stop()
	l.asOlder(2)
	want := func(numbers string, occurred uint64) {
		t.Helper()
		if got := l.numbers(); got != numbers {
			t.Errorf("the numbers are %s, want %s", got, numbers)
		}
		counted, err := p.Store().RollupCounted(t.Context(), projector.RollupOccurrences)
		if cp := l.checkpoint(p); err != nil || counted != occurred || cp.InRollup(projector.RollupOccurrences) != occurred {
			t.Errorf("%d events are counted (%v), want %d; the checkpoint is %+v", counted, err, occurred, cp)
		}
	}
	want("[]", 0)
	_, stop = l.start()
	l.append(event("a problem", "next"))
	l.barrier()
	stop()
	want("[[4]]", 1)
	if done := l.rebuilt(p); !done.Equal() || !done.Swapped || !done.Outdated {
		t.Errorf("the first replay: %+v", done)
	}
	want("[[1,2,3,4]]", 4)
	if done := l.rebuilt(p); !done.Equal() || done.Outdated || done.Live.Occurred != 4 {
		t.Errorf("the second replay: %+v", done)
	}
	l.exec("ALTER TABLE occurrences UPDATE server = 'another' WHERE number = 3 SETTINGS mutations_sync = 1")
	if done := l.rebuilt(p); done.Equal() || done.Swapped {
		t.Errorf("another server in the table is not seen: %+v", done)
	}
}
