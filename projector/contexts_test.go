package projector_test

import (
	"errors"
	"fmt"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
)

// TestContextOfALoser: a projector that cut the log after an event has written
// the event's context and then lost the race. The one that won folded the
// event and its delete as one stretch, in which the record never existed; the
// context goes all the same.
func TestContextOfALoser(t *testing.T) {
	l := newLedger(t)
	h := newHistory(t, l)
	const pairs = 10 // a stretch ends behind a delete; the first one may be cut in the middle
	for n := range pairs {
		ev := event(fmt.Sprint("problem ", n), fmt.Sprint("event ", n))
		data, err := eventlog.EncodeBlock([]errata.Event{ev})
		if err != nil {
			t.Fatal(err)
		}
		seq := h.publish("ev.0", data)
		h.publish("cmd."+eventlog.CommandDelete, fmt.Appendf(nil, `{"signatures":[%q]}`, ev.Signature))
		err = l.ClickHouse.Exec(t.Context(), "INSERT INTO contexts (book, signature, id, payload, gone) VALUES (?, unhex(?), ?, ?, 0)",
			ev.Book.String(), ev.Signature.String(), uint64(errata.PositionOf(seq, 0)), string(ev.Payload))
		if err != nil {
			t.Fatal(err)
		}
	}
	l.start()
	l.barrier()
	var left uint64
	row := l.ClickHouse.QueryRow(t.Context(), "SELECT count() FROM contexts FINAL WHERE payload != ''")
	if err := row.Scan(&left); err != nil || left != 0 {
		t.Errorf("%d contexts of deleted records are still there (%v)", left, err)
	}
}

// TestNoFuture: a projector that reads records after another one has gone on
// does not fold on top of them. It would take a record that the next fact
// removes for one that never was, and write a context which nobody empties.
func TestNoFuture(t *testing.T) {
	l := newLedger(t)
	p, _ := l.start()
	ev := event("a problem", "one")
	l.append(ev)
	l.barrier()
	at := l.checkpoint(p)
	if found, err := projector.Current(t.Context(), p.Store(), at, ev); err != nil || len(found) != 1 || found[0].Count != 1 {
		t.Fatalf("at the checkpoint: %v (%v)", found, err)
	}
	if none, err := projector.Current(t.Context(), p.Store(), at, event("another", "two")); err != nil || len(none) != 0 {
		t.Fatalf("of a record that there is not: %v (%v)", none, err)
	}
	l.append(event("a problem", "three"))
	l.barrier()
	if _, err := projector.Current(t.Context(), p.Store(), at, ev); !errors.Is(err, projector.ErrRaceLost) {
		t.Errorf("from the checkpoint before: error %v, want one of a lost race", err)
	}
}

// TestSweepOfASleeper: a projector that was asleep while another one carried
// out the cleanup empties contexts late. Those of records that came to be
// after the cleanup stay, also if they are about older events.
func TestSweepOfASleeper(t *testing.T) {
	l := newLedger(t)
	p, _ := l.start()
	old := event("a problem", "before")
	l.append(old)
	before := old.Time.UnixMilli()
	if removed := l.cleanup(before); removed.System != 1 {
		t.Fatalf("the cleanup removed %+v", removed)
	}
	cleaned := l.checkpoint(p).Sequence
	again := event("a problem", "after")
	l.append(again)
	l.barrier()
	if err := projector.SweepContexts(t.Context(), p.Store(), before, cleaned); err != nil {
		t.Fatal(err)
	}
	var payload string
	row := l.ClickHouse.QueryRow(t.Context(), `SELECT any(payload) FROM contexts FINAL
		WHERE id IN (SELECT id FROM records FINAL WHERE book != 'checkpoint')`)
	if err := row.Scan(&payload); err != nil || payload != string(again.Payload) {
		t.Errorf("the payload is %q (%v), want %q", payload, err, again.Payload)
	}
}
