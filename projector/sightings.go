package projector

import (
	"slices"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/eventlog"
)

// clockAt is the clock of the window from a fact on. It is not that of the events: it never
// goes back, and moves with events that are counted no more.
type clockAt struct {
	sequence uint64
	clock    int64
}

// tick notes a tick, if rules look for quiet projects.
func (b *batch) tick(f eventlog.Fact, clock int64) {
	if b.rules == nil || !b.rules.waits {
		return
	}
	if t, ok := eventlog.DecodeTick(f.Data); ok {
		b.ticks = append(b.ticks, alerts.Tick{Sequence: f.Sequence, Clock: max(clock, t.Minute*millisPerMinute), Since: t.Since})
	}
}

// watching are the records of a batch whose events rules look at. Rules look at a record as
// soon as it is made: a moment later its texts are fetched from memory once more.
type watching struct {
	decider *alerts.Decider
	records []alerts.Watching
	places  []uint32 // where the record of each part is among them, from 1 on; 0 for none
	// begins are the records that have enough events for a rule with this batch, by rule.
	begins map[string]map[recordKey]*errata.Record
}

// begin begins with the records of a batch that has so many parts. The memory of the last
// one is used again.
func (w *watching) begin(parts int) {
	w.forget()
	w.places = slices.Grow(w.places[:0], parts)[:parts]
	clear(w.places)
}

// forget lets the records of the batch go.
func (w *watching) forget() {
	clear(w.records)
	w.records, w.begins = w.records[:0], map[string]map[recordKey]*errata.Record{}
}

// add shows the record of a delta, with the record of before, to the rules.
func (w *watching) add(d *delta, old *errata.Record) {
	if w == nil {
		return
	}
	p := alerts.Problem{Record: d.record, Before: d.record.Count - d.count, Regressing: old != nil && old.Status == errata.StatusResolved}
	for _, rule := range w.decider.Begins(p) {
		if w.begins[rule] == nil {
			w.begins[rule] = map[recordKey]*errata.Record{}
		}
		w.begins[rule][recordKey{p.Book, p.Signature}] = p.Record
	}
	var event alerts.Sighting
	if of := w.decider.Watch(p, d.single(&event)); of.Looks() {
		w.records = append(w.records, of)
		w.places[d.part] = uint32(len(w.records))
	}
}

// single puts level and environment of the only event of the delta into s, nil when there are
// several or its environment is counted together with others.
func (d *delta) single(s *alerts.Sighting) *alerts.Sighting {
	if d.count != 1 || d.deployed.list[0].environment == otherName {
		return nil
	}
	s.Level, s.Environment = d.level, d.deployed.list[0].environment
	return s
}

// of is the record that counts the events of a part, nil when no rule looks at it.
func (w *watching) of(part uint32) *alerts.Watching {
	if place := w.places[part]; place > 0 {
		return &w.records[place-1]
	}
	return nil
}

// join gives the parts that others count the records of these.
func (w *watching) join(parts []*delta) {
	for i, d := range parts {
		if d.into != nil {
			w.places[i] = w.places[d.owner().part]
		}
	}
}

// firings decides which events of the batch fire which rules.
func (b *batch) firings(w *watching) (fired []alerts.Firing) {
	if len(w.records)+len(b.ticks) == 0 {
		return nil
	}
	defer w.forget()
	w.join(b.occurred.parts)
	names, ticks, clocks := b.occurred.names.list, b.ticks, b.clocks
	fire := func(f alerts.Firing) { fired = append(fired, f) }
	for rows := range b.occurred.each {
		for i := range rows {
			row := &rows[i]
			for len(ticks) > 0 && ticks[0].Sequence < row.position.Sequence() {
				w.decider.Tick(ticks[0], fire)
				ticks = ticks[1:]
			}
			for len(clocks) > 1 && clocks[1].sequence <= row.position.Sequence() {
				clocks = clocks[1:]
			}
			if of := w.of(row.part); of != nil {
				of.See(&alerts.Sighting{
					Position: row.position, Received: row.received, Clock: clocks[0].clock, Level: row.level, User: row.userHash,
					Environment: names[row.environment], Release: names[row.release],
				}, fire)
			}
		}
	}
	for _, t := range ticks {
		w.decider.Tick(t, fire)
	}
	return fired
}

// owner is the delta that counts the events of this one.
func (d *delta) owner() *delta {
	for d.into != nil {
		d = d.into
	}
	return d
}
