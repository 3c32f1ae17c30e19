package query

import (
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	errata "github.com/errata-log/errata"
)

const (
	// keptStates is how many states of records a Reader remembers: some 80
	// pages of 100, at about 700 bytes each 6 MB.
	keptStates = 8192
	// keptFor bounds how long a state is served from memory. It never changes,
	// but a rebuild that mends the projection may write it anew.
	keptFor = time.Minute
)

// states remembers rows by their key. A key names one state of one record, and
// what is in a state never changes: a record that does gets another version.
// So the page is always found in the tables as they are, and only rows that
// were not on a page before are read; 25 of them take as long as finding them.
type states struct {
	kept *lru.Cache[key, state]
	now  func() time.Time
}

type state struct {
	record errata.Record
	read   time.Time
}

func newStates() *states {
	kept, err := lru.New[key, state](keptStates)
	if err != nil {
		panic(fmt.Sprintf("cache of states: %v", err)) // only for a size below 1
	}
	return &states{kept: kept, now: time.Now}
}

// put remembers a row.
func (s *states) put(k key, r errata.Record) { s.kept.Add(k, state{r, s.now()}) }

// known are the rows of the places that are remembered.
func (s *states) known(places []place) map[key]errata.Record {
	known := make(map[key]errata.Record, len(places))
	oldest := s.now().Add(-keptFor)
	for _, p := range places {
		if at, ok := s.kept.Get(p.key); ok && at.read.After(oldest) {
			known[p.key] = at.record
		}
	}
	return known
}
