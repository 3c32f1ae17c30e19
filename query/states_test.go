package query

import (
	"slices"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
)

// TestStates: a state is known by book, signature and version together, and
// for a limited time.
func TestStates(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	s := newStates()
	s.now = func() time.Time { return now }
	k := key{book: errata.BookSystem, signature: errata.Signature{1}, version: 7}
	s.put(k, errata.Record{Count: 3})
	others := []key{
		{errata.BookDatabase, errata.Signature{1}, 7}, {errata.BookSystem, errata.Signature{2}, 7}, {errata.BookSystem, errata.Signature{1}, 8},
	}
	known, missing := s.split(append([]key{k}, others...))
	if len(known) != 1 || known[k].Count != 3 || !slices.Equal(missing, others) {
		t.Errorf("known %v, missing %v", known, missing)
	}
	now = now.Add(keptFor + time.Millisecond)
	if known, missing := s.split([]key{k}); len(known) != 0 || len(missing) != 1 {
		t.Errorf("after %s: known %v, missing %v", keptFor, known, missing)
	}
}
