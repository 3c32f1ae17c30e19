package projector

import (
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

// firings decides which events of the batch fire which rules. old has the records of before.
func (b *batch) firings(d *alerts.Decider, old map[recordKey]*errata.Record) (fired []alerts.Firing) {
	if d.Idle() {
		return nil
	}
	watching := make([]*alerts.Watching, len(b.occurred.parts)) // by part
	for key, d2 := range b.deltas {
		was := old[key]
		watching[d2.part] = d.Watch(alerts.Problem{
			Record: d2.record, Before: d2.record.Count - d2.count, Regressing: was != nil && was.Status == errata.StatusResolved,
		})
	}
	names := b.occurred.names.list
	for _, rows := range b.seen.rows {
		for i := range rows {
			row := &rows[i]
			if w := watching[b.occurred.parts[row.part].owner().part]; w != nil {
				d.See(w, &alerts.Sighting{
					Position: row.at, Received: row.received, Clock: row.clock, Level: row.level, User: row.user,
					Environment: names[row.environment], Release: names[row.release],
				}, func(f alerts.Firing) { fired = append(fired, f) })
			}
		}
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
