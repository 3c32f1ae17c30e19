package projector_test

import (
	"context"
	"fmt"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
)

// sighted is where the events of a problem are, in their order.
type sighted struct {
	of errata.RecordKey
	id errata.Position
	at []errata.Position
}

// sight appends events of a problem, one in each block, and notes where they are.
func (l *ledger) sight(s *sighted, message string, users ...string) {
	l.t.Helper()
	for _, user := range users {
		e := event(message, fmt.Sprint(message, len(s.at)))
		e.Payload = fmt.Appendf(nil, `{"event_id":"%s%d","user":%q}`, message, len(s.at), user)
		e.Trail = errata.Trail{User: user, UserHash: uint64(len(user))}
		l.append(e)
		at := errata.PositionOf(l.last(), 0)
		if len(s.at) == 0 {
			s.of, s.id = errata.RecordKey{Book: e.Book, Signature: e.Signature}, at
		}
		s.at = append(s.at, at)
	}
}

// last is the last fact of the log.
func (l *ledger) last() uint64 {
	l.t.Helper()
	state, err := eventlog.Inspect(l.t.Context(), l.log)
	if err != nil {
		l.t.Fatal(err)
	}
	return state.Last
}

// readable checks which events of the problem have a payload: want has an x for each one.
func (l *ledger) readable(what string, s *sighted, message, want string) {
	l.t.Helper()
	p := projector.NewPayloads(l.ClickHouse, l.log)
	got := make([]byte, len(s.at))
	flags, err := p.Available(l.t.Context(), s.of, s.id, s.at)
	if err != nil {
		l.t.Fatal(err)
	}
	for i, at := range s.at {
		payload, available, err := p.Payload(l.t.Context(), s.of, s.id, at)
		if err != nil {
			l.t.Fatal(err)
		}
		if got[i] = '-'; available {
			got[i] = 'x'
		}
		if start := fmt.Sprintf(`{"event_id":"%s%d"`, message, i); available != (len(payload) > len(start)) || available && string(payload[:len(start)]) != start {
			l.t.Errorf("%s: payload %d of %s is %s, %v", what, i, message, payload, available)
		}
		if available && !flags[i] {
			l.t.Errorf("%s: payload %d of %s is not told", what, i, message)
		}
	}
	if string(got) != want {
		l.t.Errorf("%s: payloads of %s are %s, want %s", what, message, got, want)
	}
}

// kept is how many contexts of latest events there are.
func (l *ledger) kept() (n uint64) {
	l.t.Helper()
	if err := l.ClickHouse.QueryRow(l.t.Context(), "SELECT count() FROM latest_contexts FINAL").Scan(&n); err != nil {
		l.t.Fatal(err)
	}
	return n
}

// TestLatestAfterAPurge: once the log was purged, the first and the latest event of a
// record have their payloads, also after a replay, and there is one copy for each record.
func TestLatestAfterAPurge(t *testing.T) {
	l := newLedger(t)
	p, stop := l.start()
	var many, two, once, above, gone sighted
	l.sight(&many, "many", "a", "b", "c", "d")
	l.sight(&two, "two", "a", "b")
	l.sight(&once, "once", "a")
	l.sight(&gone, "gone", "a", "b")
	l.sight(&above, "above", "a", "b")
	if _, err := l.commander.Delete(t.Context(), nil, []errata.Signature{gone.of.Signature}); err != nil {
		t.Fatal(err)
	}
	l.readable("before", &many, "many", "xxxx")
	l.purgeBefore(l.last())
	l.sight(&above, "above", "c", "d")
	l.barrier()
	after := func(what string) {
		t.Helper()
		l.readable(what, &many, "many", "x--x")
		l.readable(what, &two, "two", "xx")
		l.readable(what, &once, "once", "x")
		l.readable(what, &gone, "gone", "--")
		l.readable(what, &above, "above", "xxxx") // its latest was copied too
	}
	after("after the purge")
	if n := l.kept(); n != 3 {
		t.Errorf("%d copies, want 3", n)
	}
	stop()
	comparison, err := projector.Rebuild(context.WithoutCancel(t.Context()), p, l.rebuild())
	if err != nil || !comparison.Swapped {
		t.Fatalf("%+v, %v", comparison, err)
	}
	after("after a replay")

	l.start()
	l.sight(&many, "many", "e", "f")
	l.barrier()
	l.readable("before the next purge", &many, "many", "x--xxx")
	l.purgeBefore(l.last() + 1)
	l.readable("after the next purge", &many, "many", "x----x")
	l.readable("after the next purge", &two, "two", "xx")
	l.readable("after the next purge", &above, "above", "x--x")
	if n := l.kept(); n != 3 {
		t.Errorf("%d copies, want 3", n)
	}
}

// purgeBefore takes a snapshot and purges the facts before keep.
func (l *ledger) purgeBefore(keep uint64) {
	l.t.Helper()
	if _, err := l.commander.Do(l.t.Context(), eventlog.CommandSnapshot, eventlog.Snapshot{Keep: keep}); err != nil {
		l.t.Fatal(err)
	}
	if err := eventlog.Purge(l.t.Context(), l.log, keep); err != nil {
		l.t.Fatal(err)
	}
}

// TestLatestOfErasedPersons: an erasure takes the payloads of a person wherever they are:
// on the log, and in a copy that was made before it or would be made after it.
func TestLatestOfErasedPersons(t *testing.T) {
	l := newLedger(t)
	l.start()
	var early, late sighted
	l.sight(&early, "early", "a", "b", "u-77")
	l.barrier()
	l.purgeBefore(l.last() + 1)
	l.sight(&late, "late", "a", "u-77", "b", "u-77")
	l.barrier()
	l.readable("before", &early, "early", "x-x")
	l.readable("before", &late, "late", "xxxx")
	if _, err := l.commander.Erase(t.Context(), []string{"u-77"}, nil); err != nil {
		t.Fatal(err)
	}
	l.sight(&late, "late", "u-77") // the person came back
	l.barrier()
	l.readable("erased", &early, "early", "x--")
	l.readable("erased", &late, "late", "x-x-x")
	l.purgeBefore(late.at[4].Sequence())
	l.readable("purged", &late, "late", "x---x")
	l.purgeBefore(l.last() + 1)
	l.readable("purged again", &late, "late", "x---x")
	if n := l.kept(); n != 1 {
		t.Errorf("%d copies, want 1", n)
	}
}

// TestLatestIsExpired: the copy goes with its occurrence.
func TestLatestIsExpired(t *testing.T) {
	l := newLedger(t)
	l.start()
	var s sighted
	l.sight(&s, "s", "a", "b")
	l.barrier()
	l.purgeBefore(l.last() + 1)
	l.readable("before", &s, "s", "xx")
	received := event("s", "s").Received
	if err := l.commander.Expire(t.Context(), []uint64{1}, received.AddDate(0, 0, 1)); err != nil {
		t.Fatal(err)
	}
	l.readable("expired", &s, "s", "x-")
	if n := l.kept(); n != 0 {
		t.Errorf("%d copies, want none", n)
	}
}
