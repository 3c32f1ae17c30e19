package projector

import (
	"time"

	errata "github.com/errata-log/errata"
)

const (
	// A step of several batches takes no more batches once it has so many events or rows, or as many
	// records as a batch may have. The events of a step are folded again after a crash. An insert
	// into a rollup may have 1,048,576 rows, and a batch adds at most half a million.
	maxStepEvents = 4_000_000
	maxStepRows   = 500_000
	// maxStepTime is how long a step may wait for further batches: a service whose records
	// stand still for half a minute counts as one that is not ready.
	maxStepTime = 10 * time.Second
)

// stepRepeats is how many events for each of its records a batch must have for its records to be
// written together with those of the next one: below it, most records are other ones. Only
// tests change it.
var stepRepeats = uint64(2)

// joinRecords is how many records a batch must have, so that a command behind it gets a batch of
// its own. That takes a few more inserts. Without it the command would end the step, and all these
// records would be written twice, which takes longer. Only tests change it.
var joinRecords = 10_000

// step is what one insert into the records writes: the changes of a batch, or of several full
// ones, so that a record is written once for all of them.
type step struct {
	work *commit
	folded
	began time.Time
	index map[recordKey]uint32 // where a record is among the changes; see indexed
	inserted
}

// folded says what was folded into a batch or a step.
type folded struct {
	last       uint64    // fact
	since      time.Time // when the log took the first one; only for the lag
	events     uint64    // counted
	overflowed uint64    // those of them in overflow records
	duplicates uint64
	poison     uint64 // unreadable blocks
}

// extend adds what was folded behind it.
func (f *folded) extend(next *folded) {
	f.last = next.last
	f.events += next.events
	f.overflowed += next.overflowed
	f.duplicates += next.duplicates
	f.poison += next.poison
}

// inserted says when a step is in the tables: then done is closed.
type inserted struct {
	after uint64 // the row of the checkpoint before it
	done  chan struct{}
}

// indexed returns the step with its index, which only a step needs that the next batch may
// meet.
func (s *step) indexed() *step {
	if s.index == nil {
		s.index = make(map[recordKey]uint32, len(s.work.changes))
		for i := range s.work.changes {
			s.index[s.work.changes[i].key] = uint32(i)
		}
	}
	return s
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

// join returns the step with the changes of the next one, from which their contexts are still
// to be written. Only a step that is indexed and released can be joined.
func (s *step) join(next *step) *step {
	if s == nil {
		return next
	}
	s.extend(&next.folded)
	for i := range next.work.changes {
		c := &next.work.changes[i]
		if at, there := s.index[c.key]; there {
			s.work.changes[at].follow(c)
			continue
		}
		s.index[c.key] = uint32(len(s.work.changes))
		joining := *c
		joining.payload = nil
		s.work.changes = append(s.work.changes, joining)
	}
	return s
}

// release lets go what is in the tables before the records are: the contexts and the events,
// and what rules have decided.
func (s *step) release() {
	for i := range s.work.changes {
		s.work.changes[i].payload = nil
	}
	s.work.occurred, s.work.decide = nil, nil
}

// releaseSums lets go the sums of the events, likewise.
func (s *step) releaseSums() {
	for i := range s.work.changes {
		s.work.changes[i].hours, s.work.changes[i].deployed = hourList{}, deploymentList{}
	}
}

// mayJoin says whether the records of the batch may be written together with those before it,
// unless a command ends it.
func (b *batch) mayJoin() bool {
	return b.rules == nil && len(b.order) >= joinRecords && b.events >= stepRepeats*uint64(len(b.order))
}

// grows says whether the changes of a batch that follows may be written together with those of
// this step, which is to have no more records than a batch.
func (s *step) grows() bool {
	return s.work.decide == nil && s.events >= stepRepeats*uint64(len(s.work.changes)) && len(s.work.changes) < sizeOfBatches(heapLimit()).records &&
		s.events < maxStepEvents && s.rows() < maxStepRows
}

// rows is about how many rows the step adds to the rollup that gets most.
func (s *step) rows() int {
	hours, deployed := 0, 0
	for i := range s.work.changes {
		hours += len(s.work.changes[i].hours.list)
		deployed += len(s.work.changes[i].deployed.list)
	}
	return max(hours, deployed)
}
