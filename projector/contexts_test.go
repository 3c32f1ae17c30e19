package projector_test

import (
	"errors"
	"fmt"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
)

// TestContextOfALoser: a projector whose batch ended after an event wrote the
// context of the event and then lost the race. The winner folded the event and its
// delete in one batch, so the record never existed. The context must be emptied in
// any case.
func TestContextOfALoser(t *testing.T) {
	l := newLedger(t)
	h := newHistory(t, l)
	const pairs = 10 // a batch ends after a delete; the first one may be cut in the middle
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

// TestNoFuture: a projector that reads records after another one has moved the
// checkpoint does not use them. A record that a later fact has removed would seem
// never to have existed, and the projector would write a context that nobody
// empties.
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

// TestSweepOfASleeper: a projector that slept while another one carried out the
// cleanup empties contexts late. Those of records that are newer than the cleanup
// stay, also if their events are older.
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
