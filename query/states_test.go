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
	others := []place{
		{key: key{errata.BookDatabase, errata.Signature{1}, 7}}, {key: key{errata.BookSystem, errata.Signature{2}, 7}},
		{key: key{errata.BookSystem, errata.Signature{1}, 8}},
	}
	all := append([]place{{key: k, part: "all_1_1_0"}}, others...)
	known := s.known(all)
	if missing := unknown(all, known); len(known) != 1 || known[k].Count != 3 || !slices.Equal(missing, others) {
		t.Errorf("known %v, missing %v", known, missing)
	}
	now = now.Add(keptFor + time.Millisecond)
	if known := s.known(all); len(known) != 0 {
		t.Errorf("after %s: known %v", keptFor, known)
	}
}
