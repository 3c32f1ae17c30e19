package projector

import (
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

// problems are the records of the batch, by the part that counts their events; owners has
// that part for each part. old has the records of before.
func (b *batch) problems(old map[recordKey]*errata.Record) (all []alerts.Problem, owners []uint32) {
	all, owners = make([]alerts.Problem, len(b.occurred.parts)), make([]uint32, len(b.occurred.parts))
	for i, d := range b.occurred.parts {
		owners[i] = d.owner().part
		if d.into != nil || d.record == nil {
			continue
		}
		p := alerts.Problem{Record: d.record, Before: d.record.Count - d.count}
		if p.Before > 0 {
			was := old[recordKey{d.record.Book, d.record.Signature}]
			p.Regressing = was != nil && was.Status == errata.StatusResolved
		}
		all[i] = p
	}
	return all, owners
}

// firings decides which events of the batch fire which rules. room is memory of earlier
// batches.
func (b *batch) firings(d *alerts.Decider, problems []alerts.Problem, owners []uint32, room *[]alerts.Watching) (fired []alerts.Firing) {
	watching, places := (*room)[:0], make([]uint32, len(problems)) // where each part is among them, from 1 on
	for part, p := range problems {
		if p.Record != nil && p.Count > p.Before+1 {
			watching = append(watching, d.Watch(p))
			places[part] = uint32(len(watching))
		}
	}
	*room = watching
	defer clear(watching)   // it holds no records between batches
	var one alerts.Watching // of a record with one event in the batch, as most have in a flood
	names, ticks, clocks := b.occurred.names.list, b.ticks, b.clocks
	fire := func(f alerts.Firing) { fired = append(fired, f) }
	for rows := range b.occurred.each {
		for i := range rows {
			row := &rows[i]
			for len(ticks) > 0 && ticks[0].Sequence < row.position.Sequence() {
				d.Tick(ticks[0], fire)
				ticks = ticks[1:]
			}
			for len(clocks) > 1 && clocks[1].sequence <= row.position.Sequence() {
				clocks = clocks[1:]
			}
			w, owner := &one, owners[row.part]
			switch place := places[owner]; {
			case place > 0:
				w = &watching[place-1]
			case problems[owner].Record != nil:
				one = d.Watch(problems[owner])
			default:
				continue
			}
			if w.Looks() {
				w.See(&alerts.Sighting{
					Position: row.position, Received: row.received, Clock: clocks[0].clock, Level: row.level, User: row.userHash,
					Environment: names[row.environment], Release: names[row.release],
				}, fire)
			}
		}
	}
	for _, t := range ticks {
		d.Tick(t, fire)
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
