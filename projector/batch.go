package projector

import (
	"bytes"
	"maps"
	"slices"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/eventlog"
)

// maxBatchEvents bounds the events that are folded again after a crash.
const maxBatchEvents = 500_000

// recordKey identifies a record.
type recordKey struct {
	book      errata.Book
	signature errata.Signature
}

// delta is what a stretch of the log adds to one record. Two deltas of neighbouring
// stretches can be merged into one.
type delta struct {
	count       uint64
	first, last int64        // earliest and latest time, Unix milliseconds
	level       errata.Level // the highest
	// sighting is the first event of the stretch and id its position; they are used
	// when the record does not exist yet. It is bare when the record seems to exist; see
	// firstEvents.
	sighting eventlog.Entry
	id       errata.Position
	version  errata.Position // position of the last event
	hours    hourList        // of the events that hourly does not hold yet
	project  uint64          // of the sighting
	deployed deploymentList
	only     [1]deployment // the memory of the list while it has one

	// class is that of the sighting. others holds the events of other classes by
	// class; only a fingerprint gives them the same signature. Both are used only
	// while there is a budget of new records.
	class  []byte
	others map[string]*delta
	// overflow says that the record is an overflow record, for events of that
	// class.
	overflow      bool
	overflowClass string

	// part is the number of the delta among the parts of its batch, into the delta that
	// it was merged into. record is the record after the batch, before its command, and
	// rows how many of the occurrences are new to the table.
	part   uint32
	into   *delta
	record *errata.Record
	rows   uint64
}

const (
	millisPerMinute = int64(time.Minute / time.Millisecond)
	millisPerHour   = int64(time.Hour / time.Millisecond)
	// lastHour is the last hour that ClickHouse's DateTime can hold, in 2106. A
	// time after it, or before 1970, becomes the nearest one that fits: a time that
	// does not fit into its column would stop the projector for good.
	lastHour = 1<<32/3600 - 1
)

// add folds one more event into the delta, which comes later in the log.
func (d *delta) add(e eventlog.Entry, at errata.Position) {
	d.count++
	d.first, d.last = min(d.first, e.Time), max(d.last, e.Time)
	d.level = max(d.level, e.Level)
	d.version = at
}

// merge adds a later delta of the same record, with its others.
func (d *delta) merge(later *delta) {
	later.into = d
	d.count += later.count
	d.first, d.last = min(d.first, later.first), max(d.last, later.last)
	d.level = max(d.level, later.level)
	d.version = max(d.version, later.version)
	d.hours.merge(later.hours)
	d.deployed.merge(later.deployed)
	for _, other := range later.others {
		d.merge(other)
	}
}

// whole returns the delta with the events of all classes.
func (d *delta) whole() *delta {
	others := d.others
	d.others = nil
	for _, class := range slices.Sorted(maps.Keys(others)) {
		d.merge(others[class])
	}
	return d
}

// appendTo appends the deltas of all classes to the list.
func (d *delta) appendTo(list []*delta) []*delta {
	list = append(list, d)
	for _, other := range d.others {
		list = append(list, other)
	}
	d.others = nil
	return list
}

// batch is committed with one insert: the deltas of a stretch of the log up to and
// with sequence last, then at most one command.
type batch struct {
	folded
	windowFrom uint64
	windowTime int64
	deltas     map[recordKey]*delta
	order      []recordKey // keys in log order: equal batches must make equal blocks
	inOrder    []*delta    // their deltas, because looking all of them up takes a while
	off        uint64      // events left out because recording was switched off
	bytes      int
	most       batchSize // that it may hold
	recording  recording // after the last fact
	budget     budget    // after the last fact, without Spent
	rolled     rolledTo  // events up to here are in the rollups already
	command    *eventlog.Fact
	end        error // of the session behind the batch, which may be empty then
	cut        bool  // the next fact is there, and must not be in this batch
	fills      bool  // many more facts are there, and the committer does not get it yet
	occurred   occurrences
	first      firstEvents
	met        *eventlog.Texts // of first events; of the committer
	// rules are those in force for its events, nil for none; they look at what occurred.
	// clockBefore is the clock of the window before the batch, clocks are those of its
	// blocks, while there are rules.
	rules       *alertRules
	clocks      []clockAt
	ticks       []alerts.Tick // for rules that look for quiet projects
	clockBefore int64
}

func newBatch(rolled rolledTo) *batch {
	most := sizeOfBatches(heapLimit())
	most.records = min(most.records, batchRecords)
	return &batch{most: most, deltas: map[recordKey]*delta{}, occurred: occurrences{names: newNames()}, rolled: rolled}
}

// reserve makes room for so many new records in a batch that has none yet.
func (b *batch) reserve(records int) {
	if records == 0 {
		return
	}
	b.deltas = make(map[recordKey]*delta, records)
	b.order, b.inOrder = make([]recordKey, 0, records), make([]*delta, 0, records)
	b.first.kept = make(map[uint64]struct{}, records)
}

// fold counts the events of the block at sequence seq, each id once. It counts none
// when recording is off at this sequence.
func (b *batch) fold(w *window, seq uint64, block eventlog.Block, rec recording) {
	w.begin(seq, block.Received, block.Len())
	if b.rules != nil {
		b.clocks = append(b.clocks, clockAt{seq, w.clock})
	}
	hourly, deployed := seq > b.rolled.hourly, uint64(0)
	if seq > b.rolled.deployments {
		deployed = 1
	}
	block.Entries(func(i int, e eventlog.Entry) {
		e.Time = min(max(e.Time, 0), lastHour*millisPerHour)
		switch {
		case w.add(e.ID):
			b.duplicates++
		case rec.off:
			b.off++
		default:
			b.events++
			at, o := errata.PositionOf(seq, i), e.Origin()
			d := b.count(e, at, o)
			b.deploy(d, o, deployment{count: deployed, first: e.Time, last: e.Time, begin: at, end: at})
			switch {
			case seq > b.rolled.occurrences:
				b.occurred.add(d, e, at, &o)
			case b.rules != nil:
				b.occurred.addHeld(d, e, at, &o)
			}
			if hourly {
				d.hours.add(hourCount{hour: e.Time / millisPerHour, level: e.Level, count: 1})
			}
		}
	})
}

func (b *batch) count(e eventlog.Entry, at errata.Position, o eventlog.Origin) *delta {
	key := recordKey{e.Book, e.Signature}
	d, ok := b.deltas[key]
	if !ok {
		d = b.begin(e, at, o)
		b.append(key, d)
		return d
	}
	if b.budget.acts() && !bytes.Equal(o.Class, d.class) {
		return b.countOther(d, e, at, o)
	}
	d.add(e, at)
	return d
}

// append puts a delta behind the others.
func (b *batch) append(key recordKey, d *delta) {
	b.deltas[key] = d
	b.order, b.inOrder = append(b.order, key), append(b.inOrder, d)
}

// begin makes a delta of its first event.
func (b *batch) begin(e eventlog.Entry, at errata.Position, o eventlog.Origin) *delta {
	kept := e.Bare()
	if b.first.needed(recordKey{e.Book, e.Signature}, b.budget) {
		kept = e.Clone()
	}
	b.bytes += kept.Size()
	d := &delta{count: 1, first: e.Time, last: e.Time, level: e.Level, sighting: kept, id: at, version: at, project: o.Project}
	d.deployed.list = d.only[:0]
	b.occurred.join(d)
	if b.budget.acts() {
		d.class = bytes.Clone(o.Class)
	}
	return d
}

// countOther counts an event whose class differs from that of the sighting.
func (b *batch) countOther(d *delta, e eventlog.Entry, at errata.Position, o eventlog.Origin) *delta {
	other, ok := d.others[string(o.Class)]
	if ok {
		other.add(e, at)
		return other
	}
	if d.others == nil {
		d.others = map[string]*delta{}
	}
	other = b.begin(e, at, o)
	d.others[string(o.Class)] = other
	return other
}

// deploy counts an event of the delta in its deployment.
func (b *batch) deploy(d *delta, o eventlog.Origin, event deployment) {
	if known := d.deployed.find(o.Environment, o.Release); known != nil {
		known.add(event)
		return
	}
	names := &b.occurred.names
	event.environment, event.release = names.name(environmentName, o.Environment), names.name(releaseName, o.Release)
	if len(d.deployed.list) > 0 {
		b.bytes += deploymentBytes
	}
	d.deployed.append(event)
}

// full says whether the batch must be committed before the next fact is folded.
func (b *batch) full() bool {
	return b.command != nil || b.end != nil || len(b.order) >= b.most.records || b.events >= maxBatchEvents || max(b.bytes, b.occurred.bytes()) >= b.most.bytes
}

// followed says whether facts behind the batch are there already.
func (b *batch) followed() bool { return b.cut || b.full() }

// empty says whether there is nothing to commit.
func (b *batch) empty() bool { return b.last == 0 }

// nothing says whether there is nothing for the committer.
func (b *batch) nothing() bool { return b.empty() && b.end == nil }
