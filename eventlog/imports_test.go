package eventlog_test

import (
	"strings"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// sealed is a block of one event.
func sealed(t *testing.T, id string) []byte {
	t.Helper()
	var b eventlog.ImportBlock
	e := event(id)
	if err := b.Add(&e); err != nil {
		t.Fatal(err)
	}
	return b.Seal()
}

func TestImportGoesOnWhereItStopped(t *testing.T) {
	l := newLog(t)
	hash := strings.Repeat("ab", 32)
	if _, seq, found, err := eventlog.LastImport(t.Context(), l.Log, hash); found || seq != 0 || err != nil {
		t.Fatalf("before: %d, %v, %v", seq, found, err)
	}
	first := eventlog.ImportMark{Offset: 10, Lines: 1, Events: 1}
	seq, err := eventlog.AppendImport(t.Context(), l.Log, hash, 0, sealed(t, "a"), first)
	if err != nil {
		t.Fatal(err)
	}
	mark, last, found, err := eventlog.LastImport(t.Context(), l.Log, hash)
	if err != nil || !found || last != seq || mark != first {
		t.Fatalf("after the first: %+v at %d, %v, %v", mark, last, found, err)
	}
	// Another importer that does not know of it cannot begin at the start.
	if _, err := eventlog.AppendImport(t.Context(), l.Log, hash, 0, sealed(t, "a"), first); errata.KindOf(err) != errata.KindAlreadyRunning {
		t.Errorf("a second importer: %v", err)
	}
	second := eventlog.ImportMark{Offset: 20, Lines: 2, Events: 2, Done: true}
	if _, err := eventlog.AppendImport(t.Context(), l.Log, hash, seq, sealed(t, "b"), second); err != nil {
		t.Fatal(err)
	}
	// Files do not depend on each other.
	if _, err := eventlog.AppendImport(t.Context(), l.Log, strings.Repeat("cd", 32), 0, sealed(t, "c"), first); err != nil {
		t.Fatal(err)
	}
	if mark, _, _, err := eventlog.LastImport(t.Context(), l.Log, hash); err != nil || mark != second {
		t.Errorf("after the second: %+v, %v", mark, err)
	}
	facts, ids := l.readAll(t)
	if len(facts) != 3 || len(ids) != 3 || facts[0].Kind != eventlog.FactEvents {
		t.Errorf("%d facts with %d ids, want 3", len(facts), len(ids))
	}
}

func TestImportBlockHasLimits(t *testing.T) {
	var b eventlog.ImportBlock
	large := event("large")
	large.Payload = make([]byte, eventlog.MaxEventSize)
	if err := b.Add(&large); err == nil || b.Len() != 0 {
		t.Errorf("an event over the limit: %v, %d in the block", err, b.Len())
	}
	e := event("a")
	e.Payload = make([]byte, 64<<10)
	for !b.Full() {
		if err := b.Add(&e); err != nil {
			t.Fatal(err)
		}
	}
	n := b.Len()
	decoded, err := eventlog.DecodeBlock(b.Seal(), nil)
	if err != nil || decoded.Len() != n || n != 8 || b.Len() != 0 {
		t.Errorf("%d of %d events, %v; then %d in the block", decoded.Len(), n, err, b.Len())
	}
}

func TestImportMarkBeyond(t *testing.T) {
	a, b := eventlog.ImportMark{Offset: 5}, eventlog.ImportMark{Offset: 6}
	done := eventlog.ImportMark{Offset: 6, Done: true}
	if !b.Beyond(a) || a.Beyond(b) || a.Beyond(a) || !done.Beyond(b) || b.Beyond(done) {
		t.Error("marks are out of order")
	}
}
