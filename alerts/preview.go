package alerts

import (
	"math"
	"time"

	errata "github.com/errata-log/errata"
)

// Past is one event of before, with its record and its number among those of the record.
type Past struct {
	Record  errata.RecordKey
	ID      errata.Position
	Project uint64
	Number  uint64
	Sighting
}

// Rehearse decides what the rule would have fired over events of before, in the order of the
// log, that it is about; texts were searched already. It is the decision of the projector,
// but nobody knows any more what was resolved then, so that nothing regresses, and what is
// about projects needs other events. Firings of
// records that are muted, hidden or gone are still in it.
func Rehearse(rule Rule, events func(show func(*Past)) error) (fired []Firing, err error) {
	rule.Enabled, rule.Search = true, ""
	rule.When.Spike, rule.When.Quiet = nil, nil
	decider, clock := NewDecider(Set{rule}), int64(0)
	err = events(func(e *Past) {
		clock = max(clock, e.Received)
		e.Clock = clock
		record := &errata.Record{
			Book: e.Record.Book, Signature: e.Record.Signature, ID: e.ID, Project: e.Project, Count: math.MaxUint64, Status: errata.StatusOpen,
		}
		if w := decider.Watch(Problem{Record: record, Before: e.Number - 1}); w != nil {
			w.See(&e.Sighting, func(f Firing) { fired = append(fired, f) })
		}
	})
	return fired, err
}

// Messages is how many messages tell of the firings when each rule sends at most one in a
// time, all in their order.
func Messages(fired []Firing, gap time.Duration) (messages uint64) {
	at := int64(math.MinInt64 / 2) // of the last message
	for i := range fired {
		if fired[i].Clock > at {
			messages, at = messages+1, max(fired[i].Clock, at+gap.Milliseconds())
		}
	}
	return messages
}
