package projector

import (
	"slices"
	"time"

	errata "github.com/errata-log/errata"
)

const (
	// maxStepRecords, maxStepEvents and maxStepRows bound a step of several batches: the memory
	// of its records, what is folded again after a crash, and the rows of a rollup, of which
	// one insert may have 1,048,576. A batch adds at most half a million rows.
	maxStepRecords = maxBatchRecords
	maxStepEvents  = 4_000_000
	maxStepRows    = 500_000
	// maxStepTime is how long a step may wait for further batches: a service whose records
	// stand still for half a minute counts as one that is not ready.
	maxStepTime = 10 * time.Second
)

// stepRepeats is how many events for each of its records a batch must have for its records to be
// written together with those of the next one: below it, most records are other ones. Only
// tests change it.
var stepRepeats = uint64(2)

// step is what one insert into the records writes: the changes of a batch, or of several full
// ones, so that a record is written once for all of them.
type step struct {
	work *commit
	folded
	began time.Time
	rows  struct{ hours, deployed int } // of the rollups
	index map[recordKey]uint32          // where a record is among the changes
	inserted
}

// folded says what was folded into a step.
type folded struct {
	last                                   uint64 // fact
	since                                  time.Time
	events, overflowed, duplicates, poison uint64
}

// inserted says when a step is in the tables: then done is closed.
type inserted struct {
	after uint64 // the row of the checkpoint before it
	done  chan struct{}
}

func newStep(work *commit, f folded, began time.Time) *step {
	s := &step{work: work, folded: f, began: began, index: make(map[recordKey]uint32, len(work.changes))}
	for i := range work.changes {
		s.note(i)
	}
	return s
}

// note notes the change at the place.
func (s *step) note(place int) {
	c := &s.work.changes[place]
	s.index[c.key] = uint32(place)
	s.rows.hours += len(c.hours)
	s.rows.deployed += len(c.deployed)
}

// record is a record behind the step; changed says whether the step has changed it. The step
// may be nil.
func (s *step) record(key recordKey) (now *errata.Record, changed bool) {
	if s == nil {
		return nil, false
	}
	i, changed := s.index[key]
	if !changed {
		return nil, false
	}
	return s.work.changes[i].now, true
}

// join returns the step with the changes of the one that follows it. Both may no longer be used.
// The contexts of the first one must be in the table.
func (s *step) join(next *step) *step {
	if s == nil {
		return next
	}
	s.work.to, s.last = next.work.to, next.last
	s.events += next.events
	s.overflowed += next.overflowed
	s.duplicates += next.duplicates
	s.poison += next.poison
	s.rows.hours, s.rows.deployed = 0, 0
	for i := range next.work.changes {
		c := &next.work.changes[i]
		if at, there := s.index[c.key]; there {
			s.work.changes[at].follow(c)
			continue
		}
		s.index[c.key] = uint32(len(s.work.changes))
		joining := *c
		joining.payload = nil // it is written from next
		s.work.changes = append(s.work.changes, joining)
	}
	for i := range s.work.changes {
		s.rows.hours += len(s.work.changes[i].hours)
		s.rows.deployed += len(s.work.changes[i].deployed)
	}
	return s
}

// release lets the contexts go, which are in the table.
func (s *step) release() {
	for i := range s.work.changes {
		s.work.changes[i].payload = nil
	}
	s.work.occurred = nil
}

// grows says whether the changes of a batch that follows may be written together with those of
// this step.
func (s *step) grows() bool {
	return s.work.decide == nil && s.events >= stepRepeats*uint64(len(s.work.changes)) && len(s.work.changes) < maxStepRecords &&
		s.events < maxStepEvents && max(s.rows.hours, s.rows.deployed) < maxStepRows
}

// follow adds the change of a later stretch of the log to that of an earlier one.
func (c *change) follow(later *change) {
	c.now, c.project = later.now, later.project
	c.hours = joined(c.hours, later.hours,
		func(a, b *hourCount) bool { return a.hour == b.hour && a.level == b.level },
		func(a *hourCount, b hourCount) { a.count += b.count })
	c.deployed = joined(c.deployed, later.deployed,
		func(a, b *deployment) bool { return a.environment == b.environment && a.release == b.release },
		func(a *deployment, b deployment) { a.add(b) })
}

// joined adds the parts of the second list to those of the first that are the same. With long
// lists it does not look which: the table adds up what is there twice.
func joined[T any](list, more []T, same func(a, b *T) bool, add func(a *T, b T)) []T {
	const long = 16
	for i := range more {
		at := -1
		if len(list) <= long {
			at = slices.IndexFunc(list, func(t T) bool { return same(&t, &more[i]) })
		}
		if at < 0 {
			list = append(list, more[i])
		} else {
			add(&list[at], more[i])
		}
	}
	return list
}
