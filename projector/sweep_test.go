package projector_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
)

// TestCleanupIsOneBlock: the rows of a chunk of a cleanup and its checkpoint are
// one part, because only a part is written as a whole or not at all.
func TestCleanupIsOneBlock(t *testing.T) {
	t.Cleanup(projector.SetSweepSize(100_000)) // one chunk
	l := newLedger(t)
	l.start()
	const n = 70_000 // more than the 65,409 rows of a block that is read
	l.problems(n)
	l.barrier()
	if err := l.ClickHouse.Exec(t.Context(), "OPTIMIZE TABLE records FINAL"); err != nil {
		t.Fatal(err)
	}
	if err := l.ClickHouse.Exec(t.Context(), "SYSTEM STOP MERGES "+l.Database+".records"); err != nil {
		t.Fatal(err)
	}
	before := l.parts()
	if removed := l.cleanup(time.Now().UnixMilli() + 1<<40); removed.System != n || removed.Database != 0 {
		t.Errorf("answered %+v, want %d of the system book", removed, n)
	}
	if after := l.parts(); after != before+1 {
		t.Errorf("%d parts became %d, want one more", before, after)
	}
	if live := l.live(); live != 0 {
		t.Errorf("%d records are left", live)
	}
}

// TestSweepsRace: of two steps of cleanups after the same checkpoint only one
// counts, and it counts as a whole.
func TestSweepsRace(t *testing.T) {
	l := newLedger(t)
	p, stop := l.start()
	const n = 70_000
	l.problems(n)
	l.barrier()
	stop()
	if err := l.ClickHouse.Exec(t.Context(), "SYSTEM STOP MERGES "+l.Database+".records"); err != nil {
		t.Fatal(err)
	}
	from, before := l.checkpoint(p), time.Now().UnixMilli()
	parts := l.parts()
	for chunks := 8; chunks > 0; chunks /= 2 { // the later, the larger; the first one wins
		if err := projector.SweepStep(t.Context(), p.Store(), from, before, 0, chunks); err != nil {
			t.Fatal(err)
		}
	}
	to := l.checkpoint(p)
	if to.Row != from.Row+1 || to.Sweep.Chunks != 8 {
		t.Errorf("the checkpoint is %+v after %+v", to, from)
	}
	if after := l.parts(); after != parts+1 {
		t.Errorf("%d parts became %d, want one more", parts, after)
	}
	if live := l.live(); live < n*6/8 || live >= n {
		t.Errorf("%d of %d records are left, want about seven eighths", live, n)
	}
}

// problems appends n events of as many problems.
func (l *ledger) problems(n int) {
	l.t.Helper()
	const block = 5000
	for from := 0; from < n; from += block {
		events := make([]errata.Event, block)
		for i := range events {
			events[i] = event(fmt.Sprint("problem ", from+i), fmt.Sprint(from+i))
		}
		l.append(events...)
	}
}

// cleanup removes the records last seen up to before, in Unix milliseconds.
func (l *ledger) cleanup(before int64) (removed errata.Changed) {
	l.t.Helper()
	answer, err := l.commander.Do(l.t.Context(), eventlog.CommandCleanup, eventlog.Cleanup{Before: before})
	if err == nil {
		err = json.Unmarshal(answer, &removed)
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return removed
}

// live is how many records there are.
func (l *ledger) live() (n int64) {
	l.t.Helper()
	if err := l.ClickHouse.QueryRow(l.t.Context(), "SELECT sum(sign) FROM records WHERE book != 'checkpoint'").Scan(&n); err != nil {
		l.t.Fatal(err)
	}
	return n
}

// parts is the number of active parts of the records.
func (l *ledger) parts() (n uint64) {
	l.t.Helper()
	row := l.ClickHouse.QueryRow(l.t.Context(), "SELECT count() FROM system.parts WHERE database = currentDatabase() AND table = 'records' AND active")
	if err := row.Scan(&n); err != nil {
		l.t.Fatal(err)
	}
	return n
}

// TestCleanupOfNothing: the first fact of a ledger may be a cleanup, before there
// is a row of a checkpoint.
func TestCleanupOfNothing(t *testing.T) {
	l := newLedger(t)
	l.start()
	if removed := l.cleanup(time.Now().UnixMilli()); removed.Total() != 0 {
		t.Errorf("answered %+v, want nothing", removed)
	}
	l.problems(5000)
	l.barrier()
	if live := l.live(); live != 5000 {
		t.Errorf("%d records, want 5000", live)
	}
}
