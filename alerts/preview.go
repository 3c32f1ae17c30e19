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
// but nobody knows any more what was resolved then, so that nothing regresses; what is about
// projects is decided by [RehearseProjects]. Firings of records that are muted, hidden or
// gone are still in it.
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
		w := decider.Watch(Problem{Record: record, Before: e.Number - 1}, nil)
		w.See(&e.Sighting, func(f Firing) { fired = append(fired, f) })
	})
	return fired, err
}

// PastMinute is how many events of a project came in one minute of before, of those that
// a rule is about.
type PastMinute struct {
	Minute  int64 // Unix time
	Project uint64
	// Loud are those of records that are neither muted nor hidden.
	Events, Loud uint64
}

// RehearsalWeeks is how far the minutes of [RehearseProjects] go back: what is usual in the
// first week of a preview was counted in the week before.
const RehearsalWeeks = 2

// RehearseProjects decides what the rule would have fired for projects, over the minutes of
// two weeks up to one, in their order. A firing has the place of its minute and names no
// record. As before, the projects of the rule must have been chosen, and the service is
// taken to have listened all the time.
func RehearseProjects(rule Rule, to int64, minutes []PastMinute) (fired []Firing) {
	rule = Rule{ID: rule.ID, Enabled: true, When: When{Spike: rule.When.Spike, Quiet: rule.When.Quiet}, ThrottleMinutes: rule.ThrottleMinutes}
	decider := NewDecider(Set{rule})
	fire := func(f Firing) {
		f.Record, f.ID, f.Count = errata.RecordKey{Book: errata.BookSystem}, 0, 0
		fired = append(fired, f)
	}
	if len(minutes) == 0 {
		return nil
	}
	for minute := minutes[0].Minute; minute <= to; minute++ {
		decider.Tick(Tick{Sequence: uint64(minute), Clock: minute * millisPerMinute}, fire)
		for ; len(minutes) > 0 && minutes[0].Minute == minute; minutes = minutes[1:] {
			decider.rehearse(&minutes[0], fire)
		}
		decider.Counted()
	}
	return fired
}

// rehearse counts the events of a minute.
func (d *Decider) rehearse(m *PastMinute, fire func(Firing)) {
	s := &Sighting{Position: errata.PositionOf(uint64(m.Minute), errata.MaxBlockEvents-1), Received: m.Minute * millisPerMinute, Clock: m.Minute * millisPerMinute}
	loud := &errata.Record{Book: errata.BookSystem, Project: m.Project, Status: errata.StatusOpen}
	muted := *loud
	muted.Status = errata.StatusMuted
	for _, part := range []struct {
		of     *errata.Record
		events uint64
	}{{&muted, m.Events - m.Loud}, {loud, m.Loud}} {
		w := d.Watch(Problem{Record: part.of}, nil)
		for range part.events {
			w.See(s, fire)
		}
	}
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
