package projector

import (
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

const (
	// maxBatchRecords keeps a batch one block: two rows a record and two for
	// the checkpoint stay far below ClickHouse's 1,048,576 rows, beyond which
	// an insert is not atomic.
	maxBatchRecords = 50_000
	// maxBatchEvents bounds what a crash makes us fold again.
	maxBatchEvents = 1_000_000
	// maxBatchBytes bounds the first sightings that a batch keeps in memory.
	maxBatchBytes = 64 << 20
)

// recordKey addresses a record.
type recordKey struct {
	book      errata.Book
	signature errata.Signature
}

// delta is what a stretch of the log says about one record. Deltas of
// neighbouring stretches add up: folding is a monoid.
type delta struct {
	count       uint64
	first, last int64 // earliest and latest time, Unix milliseconds
	// sighting is the first event of the stretch and id its position; they
	// matter when the record does not exist yet.
	sighting eventlog.Entry
	id       errata.Position
	version  errata.Position // position of the last event
}

// add folds one more event, later in the log, into the delta.
func (d *delta) add(e eventlog.Entry, at errata.Position) {
	d.count++
	d.first, d.last = min(d.first, e.Time), max(d.last, e.Time)
	d.version = at
}

// batch is what becomes one insert: the deltas of a stretch of the log up to
// and with sequence last, then at most one command.
type batch struct {
	last       uint64
	since      time.Time // when the log took the first fact; for the lag only
	windowFrom uint64
	windowTime int64
	deltas     map[recordKey]*delta
	order      []recordKey // keys in log order, so that equal batches make equal blocks
	events     uint64      // counted
	duplicates uint64
	poison     uint64 // blocks that could not be read
	bytes      int
	command    *eventlog.Fact
}

func newBatch() *batch { return &batch{deltas: map[recordKey]*delta{}} }

// fold counts the events of the block at sequence seq, each id once.
func (b *batch) fold(w *window, seq uint64, block eventlog.Block) {
	w.begin(seq, block)
	block.Entries(func(i int, e eventlog.Entry) {
		if w.add(e.ID) {
			b.duplicates++
			return
		}
		b.events++
		b.count(e, errata.PositionOf(seq, i))
	})
}

func (b *batch) count(e eventlog.Entry, at errata.Position) {
	key := recordKey{e.Book, e.Signature}
	if d, ok := b.deltas[key]; ok {
		d.add(e, at)
		return
	}
	kept := e.Clone()
	b.bytes += kept.Size()
	b.deltas[key] = &delta{count: 1, first: e.Time, last: e.Time, sighting: kept, id: at, version: at}
	b.order = append(b.order, key)
}

// full says that the batch must be committed before more is folded.
func (b *batch) full() bool {
	return b.command != nil || len(b.order) >= maxBatchRecords || b.events >= maxBatchEvents || b.bytes >= maxBatchBytes
}

// empty says that there is nothing to commit.
func (b *batch) empty() bool { return b.last == 0 }

// advance applies a delta to a record: old is its current state, nil when it
// does not exist. created says that the record came to be; then payload is the
// context of its first sighting. An error says that this context could not be
// decoded; the record is right in all else.
func advance(old *errata.Record, d *delta) (now errata.Record, payload []byte, created bool, err error) {
	first, last := time.UnixMilli(d.first).UTC(), time.UnixMilli(d.last).UTC()
	if old == nil {
		ev, err := d.sighting.Event()
		if err != nil {
			ev = errata.Event{Level: d.sighting.Level}
		}
		return errata.Record{
			Book: d.sighting.Book, Signature: d.sighting.Signature,
			ID: d.id, Version: d.version, Count: d.count, FirstSeen: first, LastSeen: last,
			Level: ev.Level, File: ev.File, Line: ev.Line, Message: ev.Message, Class: ev.Class,
			URI: ev.URI, Method: ev.Method, UserID: ev.UserID, IP: ev.IP, Status: errata.StatusOpen,
		}, ev.Payload, true, err
	}
	now = *old
	now.Count += d.count
	now.Version = d.version
	if first.Before(now.FirstSeen) {
		now.FirstSeen = first
	}
	if last.After(now.LastSeen) {
		now.LastSeen = last
	}
	if old.Status == errata.StatusResolved {
		now.Status, now.Regressed = errata.StatusOpen, true
	}
	return now, nil, false, nil
}
