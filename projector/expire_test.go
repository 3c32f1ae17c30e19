package projector_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/projector"
)

// TestOccurrencesExpire: an expiry removes what the projects received before the time,
// and nothing of others, of later facts, or of how far the table is counted.
func TestOccurrencesExpire(t *testing.T) {
	l := newLedger(t)
	p, stop := l.start()
	const old, fresh = 1_795_000_000_000, 1_795_100_000_000
	before := time.UnixMilli(fresh)
	for i, received := range []int64{old, fresh - 1, fresh, old, old} {
		e := event("a", fmt.Sprint(i))
		e.Received = time.UnixMilli(received)
		if e.Project = 1; i >= 3 {
			e.Project = uint64(i)
		}
		e.Signature[0] = byte(i)
		l.append(e)
	}
	l.barrier()
	due, err := p.Store().Expired(t.Context(), []uint64{1, 2, 3}, before)
	if err != nil || !slices.Equal(due, []uint64{1, 3}) {
		t.Errorf("due are %v, %v", due, err)
	}
	if err := l.commander.Expire(t.Context(), []uint64{1, 3}, before); err != nil {
		t.Fatal(err)
	}
	if left := l.occurrenceRows(); left != 2 {
		t.Errorf("%d occurrences are left, want that of project 4 and the fresh one", left)
	}
	if due, err := p.Store().Expired(t.Context(), []uint64{1, 2, 3}, before); err != nil || len(due) > 0 {
		t.Errorf("due are still %v, %v", due, err)
	}
	late := event("late", "late")
	late.Received = time.UnixMilli(old)
	l.append(late)
	l.barrier()
	if left := l.occurrenceRows(); left != 3 {
		t.Errorf("%d occurrences, want also one that came after the expiry", left)
	}
	if err := l.commander.Expire(t.Context(), nil, before); err == nil {
		t.Error("an expiry of no project was carried out")
	}
	stop()
	cp, err := p.Store().RollupCounted(t.Context(), "occurrences")
	if err != nil || cp != 6 {
		t.Errorf("%d occurrences were counted, want 6 (%v)", cp, err)
	}
	if again, _ := l.start(); again.Status().Checkpoint.Events != 6 {
		t.Errorf("%d events after a restart", again.Status().Checkpoint.Events)
	}
}

// TestExpiryAgain: a projector that repeats an expiry late, after a crash or because it
// slept, does not touch what came behind it.
func TestExpiryAgain(t *testing.T) {
	l := newLedger(t)
	p, _ := l.start()
	l.append(event("a", "1"))
	l.barrier()
	state := l.checkpoint(p).Sequence
	l.append(event("a", "2"))
	l.barrier()
	for range 2 {
		if err := p.Store().ExpireOccurrences(t.Context(), []uint64{1}, time.UnixMilli(1<<42), errata.PositionOf(state, 0)); err != nil {
			t.Fatal(err)
		}
	}
	if left := l.occurrenceRows(); left != 1 {
		t.Errorf("%d occurrences are left, want the one behind the expiry", left)
	}
}

// occurrenceRows is how many occurrences there are.
func (l *ledger) occurrenceRows() (n uint64) {
	l.t.Helper()
	if err := l.ClickHouse.QueryRow(l.t.Context(), "SELECT count() FROM occurrences WHERE book != 'checkpoint'").Scan(&n); err != nil {
		l.t.Fatal(err)
	}
	return n
}

// TestExpiryThroughAKill: an expiry that ClickHouse does not survive is carried out once
// it is back, and a replay of the log gives the same occurrences.
func TestExpiryThroughAKill(t *testing.T) {
	l := newLedger(t)
	l.NeedEmbedded()
	p, stop := l.start()
	const fresh = 1_795_100_000_000
	for i := range 40 {
		events := make([]errata.Event, 50)
		for j := range events {
			events[j] = event(fmt.Sprint("problem ", j%7), fmt.Sprint(i, "-", j))
			events[j].Received = time.UnixMilli(fresh + int64(j%2) - 1)
		}
		l.append(events...)
	}
	l.barrier()
	expired := make(chan error, 1)
	go func() { expired <- l.commander.Expire(t.Context(), []uint64{1}, time.UnixMilli(fresh)) }()
	l.KillClickHouse()
	if err := <-expired; err != nil {
		t.Fatal(err)
	}
	l.append(event("problem 0", "later"))
	l.barrier()
	if left := l.occurrenceRows(); left != 1001 {
		t.Errorf("%d occurrences are left, want 1001", left)
	}
	stop()
	comparison, err := projector.Rebuild(context.WithoutCancel(t.Context()), p, l.rebuild())
	if err != nil || !comparison.Equal() || !comparison.Swapped || comparison.Live.Occurred != 1001 {
		t.Errorf("rebuilt: %+v, %v", comparison, err)
	}
}
