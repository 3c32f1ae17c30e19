package referee

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Ledger is what the senders know. It is safe for concurrent use.
type Ledger struct {
	World World

	mu       sync.Mutex
	tallies  map[int]*tally // by problem
	accepted map[int][]bool // by sender and number
	doubtful map[key]Event  // with unknown outcome, and not sent again yet
	events   int
	resends  int
}

type key struct{ sender, n int }

// tally is what is certain about one problem.
type tally struct {
	count       int
	first, last time.Time
}

func (t *tally) add(at time.Time) {
	if t.count == 0 || at.Before(t.first) {
		t.first = at
	}
	if t.count == 0 || at.After(t.last) {
		t.last = at
	}
	t.count++
}

// NewLedger is empty.
func NewLedger(w World) *Ledger {
	return &Ledger{World: w, tallies: map[int]*tally{}, accepted: map[int][]bool{}, doubtful: map[key]Event{}}
}

// Clone is a copy of the ledger, for a run on a copy of the data.
func (l *Ledger) Clone() *Ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := NewLedger(l.World)
	for problem, t := range l.tallies {
		same := *t
		c.tallies[problem] = &same
	}
	for sender, seen := range l.accepted {
		c.accepted[sender] = slices.Clone(seen)
	}
	c.doubtful, c.events, c.resends = maps.Clone(l.doubtful), l.events, l.resends
	return c
}

// Accept counts events that were answered with a 2xx, each once, however often
// it is sent.
func (l *Ledger) Accept(events []Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range events {
		seen := l.accepted[e.Sender]
		for len(seen) <= e.N {
			seen = append(seen, false)
		}
		l.accepted[e.Sender] = seen
		if seen[e.N] {
			continue
		}
		seen[e.N] = true
		delete(l.doubtful, key{e.Sender, e.N})
		t := l.tallies[e.Problem]
		if t == nil {
			t = &tally{}
			l.tallies[e.Problem] = t
		}
		t.add(e.At)
		l.events++
	}
}

// Doubt is for events with an unknown outcome that are not sent again for now:
// a record may count them or not.
func (l *Ledger) Doubt(events []Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range events {
		if seen := l.accepted[e.Sender]; e.N >= len(seen) || !seen[e.N] {
			l.doubtful[key{e.Sender, e.N}] = e
		}
	}
}

// Doubtful are the events to be sent again until they are accepted, in order.
func (l *Ledger) Doubtful() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.SortedFunc(maps.Values(l.doubtful), func(a, b Event) int {
		if a.Sender != b.Sender {
			return a.Sender - b.Sender
		}
		return a.N - b.N
	})
}

// Resent counts a request that was sent again.
func (l *Ledger) Resent() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resends++
}

// Accepted is how many events have been accepted, and Resends how many requests
// had to be sent again for it.
func (l *Ledger) Accepted() (events, resends int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.events, l.resends
}

// known says whether a sender may have sent the event: it is accepted or in
// doubt.
func (l *Ledger) known(sender, n int) bool {
	if seen := l.accepted[sender]; n >= 0 && n < len(seen) && seen[n] {
		return true
	}
	_, doubtful := l.doubtful[key{sender, n}]
	return doubtful
}
