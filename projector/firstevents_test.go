package projector_test

import (
	"fmt"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// TestFirstEventIsReadAgain: a batch keeps no first event of a record that seems to exist. When
// the record was deleted before, the new one still has all of its first event.
func TestFirstEventIsReadAgain(t *testing.T) {
	t.Run("without a budget", func(t *testing.T) { readAgain(t, 0) })
	t.Run("with a budget", func(t *testing.T) { readAgain(t, 100) })
}

func readAgain(t *testing.T, budget int) {
	l := newLedger(t)
	l.start()
	l.limit(budget)
	l.append(event("kept", "1"), event("deleted", "2"))
	l.do(eventlog.CommandDelete, eventlog.Signatures{Signatures: []string{event("deleted", "").Signature.String()}}, 1)
	l.append(event("kept", "3"), event("deleted", "4"), event("deleted", "5"))
	l.barrier()
	got := l.want(map[string]uint64{"kept": 2, "deleted": 2})
	for message, id := range map[string]string{"kept": "1", "deleted": "4"} {
		if want := fmt.Sprintf(`{"id":%q}`, id); len(got[message].Payloads) != 1 || got[message].Payloads[0] != want {
			t.Errorf("%s: contexts %v, want %s", message, got[message].Payloads, want)
		}
	}
}

// TestFirstEventsOfManyProblems: after a cleanup all problems come again, in blocks of one event
// and of many, and each record has its first event.
func TestFirstEventsOfManyProblems(t *testing.T) {
	l := newLedger(t)
	l.start()
	const problems = 300
	send := func(round, together int) {
		for from := 0; from < problems; from += together {
			events := make([]errata.Event, together)
			for i := range events {
				events[i] = event(fmt.Sprint("problem ", from+i), fmt.Sprint(round, "-", from+i))
			}
			l.append(events...)
		}
		l.barrier()
	}
	send(0, problems)
	for round, together := range []int{1, 150} {
		if removed := l.cleanup(event("", "").Time.UnixMilli() + 1); removed.Total() != problems {
			t.Fatalf("the cleanup removed %+v", removed)
		}
		send(round+1, together)
		got := l.records()
		if len(got) != problems {
			t.Errorf("%d records, want %d", len(got), problems)
		}
		for i := range problems {
			r, want := got[fmt.Sprint("problem ", i)], fmt.Sprintf(`{"id":"%d-%d"}`, round+1, i)
			if r.Count != 1 || len(r.Payloads) != 1 || r.Payloads[0] != want {
				t.Fatalf("problem %d: %+v, want the context %s", i, r, want)
			}
		}
	}
}
