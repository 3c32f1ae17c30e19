package projector

import (
	"cmp"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// change is one record before and after a stretch of the log: old is nil when the
// record did not exist before, now is nil when it does not exist after. When old
// and now are the same pointer, the record is not written.
type change struct {
	key      recordKey
	old, now *errata.Record
	payload  []byte // the context of a new record, in the memory of the batch
	// hours and deployed are the events of the stretch for the rollups. They belong
	// to the record with the id countedOf, of the project, which a command at the end
	// may have removed already.
	hours     hourList
	deployed  deploymentList
	countedOf errata.Position
	project   uint64
}

// created says whether the record was made in this stretch.
func (c *change) created() bool { return c.now != nil && (c.old == nil || c.old.ID != c.now.ID) }

// removed says whether the record of before is gone, so that its context must be
// emptied.
func (c *change) removed() bool {
	return c.old != nil && (c.now == nil || c.now.ID != c.old.ID)
}

// fleeting is the id of a record that was made in this stretch and removed by the
// command at its end, 0 for none. Its context must be emptied too: a projector that
// lost the race may have written it, in a batch that ended elsewhere.
func (c *change) fleeting() errata.Position {
	if c.old != nil || c.now != nil {
		return 0
	}
	return c.countedOf
}

// nothing says whether there is nothing to write.
func (c *change) nothing() bool { return c.old == c.now && len(c.hours.list) == 0 && c.fleeting() == 0 }

// follow adds the change of a later stretch of the log.
func (c *change) follow(later *change) {
	c.now, c.project = later.now, later.project
	c.hours.merge(later.hours)
	c.deployed.merge(later.deployed)
}

// advance applies a delta to a record: old is its current state, nil when it does
// not exist. The deployments of the delta get the names under which the record
// counts them. payload is the context of a new record. Texts of a new record that are in met
// are not copied again. An error says that the first event could not be decoded: the new record
// then lacks its details, but counts right.
func advance(old *errata.Record, d *delta, met *eventlog.Texts) (now errata.Record, payload []byte, err error) {
	first, last := time.UnixMilli(d.first).UTC(), time.UnixMilli(d.last).UTC()
	if old == nil {
		ev, err := d.sighting.Sighting(met)
		environments, releases := d.deployed.place(nil, nil)
		if d.overflow {
			// The record stands for many problems. The sighting is an example,
			// whose context is kept. Its file and request are left out; its user
			// and address stay, so that an erasure finds them. What noise rules
			// decided is about the sighting alone.
			return errata.Record{
				Book: d.sighting.Book, Signature: d.overflowKey(d.overflowClass).signature,
				ID: d.id, Version: d.version, Count: d.count, FirstSeen: first, LastSeen: last,
				Level: d.level, Message: overflowMessage(d.overflowClass), Class: d.overflowClass,
				UserID: ev.UserID, IP: ev.IP, Status: errata.StatusOpen,
				Project: d.project, Environments: environments, Releases: releases,
			}, ev.Payload, err
		}
		status := errata.StatusOpen
		if ev.Mute {
			status = errata.StatusMuted
		}
		return errata.Record{
			Book: d.sighting.Book, Signature: d.sighting.Signature,
			ID: d.id, Version: d.version, Count: d.count, FirstSeen: first, LastSeen: last,
			Level: d.level, File: ev.File, Line: ev.Line, Message: ev.Message, Class: ev.Class,
			URI: ev.URI, Method: ev.Method, UserID: ev.UserID, IP: ev.IP, Status: status, Noise: ev.Noise,
			Project: d.project, Environments: environments, Releases: releases,
		}, ev.Payload, err
	}
	now = *old
	now.Project = cmp.Or(old.Project, d.project) // an older version did not write it
	now.Environments, now.Releases = d.deployed.place(old.Environments, old.Releases)
	now.Count += d.count
	now.Level = max(now.Level, d.level)
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
	return now, nil, nil
}

// move returns the record with the status of a command at this position.
func move(r errata.Record, status errata.Status, at errata.Position) errata.Record {
	r.Status, r.Regressed, r.Version = status, false, at
	return r
}

// changesOf applies the deltas of the batch to the records in old. keys are those
// of the batch, then those of its command. unreadable are the ids of new records
// whose first event could not be decoded. Rules look at the records in w, nil for none.
func changesOf(b *batch, keys []recordKey, old map[recordKey]*errata.Record, w *watching) (changes []change, unreadable []errata.Position) {
	changes = make([]change, 0, len(keys))
	for i, key := range keys {
		ch := change{key: key, old: old[key], now: old[key]}
		if i < len(b.inOrder) {
			d := b.inOrder[i].whole()
			now, payload, err := advance(ch.old, d, b.met)
			if err != nil {
				unreadable = append(unreadable, now.ID)
			}
			d.record, ch.now, ch.payload = &now, &now, payload
			ch.hours, ch.deployed, ch.countedOf, ch.project = d.hours, d.deployed, now.ID, now.Project
			w.add(d, ch.old)
		}
		changes = append(changes, ch)
	}
	return changes, unreadable
}
