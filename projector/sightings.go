package projector

import (
	"slices"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
	"github.com/errata-log/errata/eventlog"
)

// sighting is one counted event of a batch, as rules of alerts see it.
type sighting struct {
	at                   errata.Position
	received, clock      int64
	user                 uint64
	part                 uint32 // the delta that counts it
	environment, release uint32 // numbers of names
	level                errata.Level
}

const (
	// sightingBytes is what one takes in the memory of a batch.
	sightingBytes = 56
	// sightingsTogether is how many are in one piece of memory.
	sightingsTogether = 1024
)

// sightings are all counted events of a batch in log order, kept only while there are
// rules.
type sightings struct{ rows [][]sighting }

// watch shows an event of the delta to the rules.
func (b *batch) watch(d *delta, e eventlog.Entry, at errata.Position, o *eventlog.Origin, clock int64) {
	s := &b.seen
	last := len(s.rows) - 1
	if last < 0 || len(s.rows[last]) == sightingsTogether {
		s.rows = append(s.rows, make([]sighting, 0, sightingsTogether))
		b.bytes += sightingsTogether * sightingBytes
		last++
	}
	s.rows[last] = append(s.rows[last], sighting{
		at: at, received: e.Received, clock: clock, user: o.UserHash, part: d.part, level: e.Level,
		environment: b.occurred.names.number(environmentName, o.Environment), release: b.occurred.names.number(releaseName, o.Release),
	})
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
	watching := slices.Grow((*room)[:0], len(problems))[:len(problems)]
	*room = watching
	defer clear(watching) // it holds no records between batches
	for part, p := range problems {
		if p.Record != nil {
			watching[part] = d.Watch(p)
		}
	}
	names, ticks := b.occurred.names.list, b.ticks
	fire := func(f alerts.Firing) { fired = append(fired, f) }
	for _, rows := range b.seen.rows {
		for i := range rows {
			row := &rows[i]
			for len(ticks) > 0 && ticks[0].Sequence < row.at.Sequence() {
				d.Tick(ticks[0], fire)
				ticks = ticks[1:]
			}
			if w := &watching[owners[row.part]]; w.Looks() {
				w.See(&alerts.Sighting{
					Position: row.at, Received: row.received, Clock: row.clock, Level: row.level, User: row.user,
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
