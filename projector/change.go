package projector

import (
	"time"

	errata "github.com/errata-log/errata"
)

// change is one record before and after a stretch of the log: old is nil when
// it did not exist, now when it does not any more. Where both are, nothing has
// to be written.
type change struct {
	key      recordKey
	old, now *errata.Record
	payload  []byte // context of the first sighting, of a record that came to be
	// hours are the events of the stretch by hour, of the record with the id
	// hoursOf; a command at the end may have removed that record already.
	hours   []hourCount
	hoursOf errata.Position
}

// created says that the record came to be in this stretch.
func (c *change) created() bool { return c.now != nil && (c.old == nil || c.old.ID != c.now.ID) }

// removed says that the record of before is gone, and its context is to be
// emptied.
func (c *change) removed() bool {
	return c.old != nil && (c.now == nil || c.now.ID != c.old.ID)
}

// fleeting is the id of a record that came to be in this stretch and was removed
// by the command at its end, 0 for none. A projector that cut the log elsewhere
// and lost the race may have written its context, which is to be emptied too.
func (c *change) fleeting() errata.Position {
	if c.old != nil || c.now != nil {
		return 0
	}
	return c.hoursOf
}

// nothing says that neither the record nor its hours change.
func (c *change) nothing() bool { return c.old == c.now && len(c.hours) == 0 && c.fleeting() == 0 }

// advance applies a delta to a record: old is its current state, nil when it
// does not exist. payload is the context of the first sighting if the record
// came to be. An error says that this context could not be decoded; the record
// is right in all else.
func advance(old *errata.Record, d *delta) (now errata.Record, payload []byte, err error) {
	first, last := time.UnixMilli(d.first).UTC(), time.UnixMilli(d.last).UTC()
	if old == nil {
		ev, err := d.sighting.Event()
		if err != nil {
			ev = errata.Event{Level: d.sighting.Level}
		}
		if d.overflow {
			// The sighting is one of many problems: it is an example, which its
			// payload shows, and where it was says nothing. Whose it was stays, so
			// that an erasure finds it.
			return errata.Record{
				Book: d.sighting.Book, Signature: d.overflowKey(d.overflowClass).signature,
				ID: d.id, Version: d.version, Count: d.count, FirstSeen: first, LastSeen: last,
				Level: ev.Level, Message: overflowMessage(d.overflowClass), Class: d.overflowClass,
				UserID: ev.UserID, IP: ev.IP, Status: errata.StatusOpen,
			}, ev.Payload, err
		}
		return errata.Record{
			Book: d.sighting.Book, Signature: d.sighting.Signature,
			ID: d.id, Version: d.version, Count: d.count, FirstSeen: first, LastSeen: last,
			Level: ev.Level, File: ev.File, Line: ev.Line, Message: ev.Message, Class: ev.Class,
			URI: ev.URI, Method: ev.Method, UserID: ev.UserID, IP: ev.IP, Status: errata.StatusOpen,
		}, ev.Payload, err
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
	return now, nil, nil
}

// move gives a record the status that an administrator decided on, at the
// command's place in the log.
func move(r errata.Record, status errata.Status, at errata.Position) errata.Record {
	r.Status, r.Regressed, r.Version = status, false, at
	return r
}

// changesOf applies the deltas of the batch to the records as they were. The
// keys are those of the batch and after them those of its command.
// unreadable are the ids of new records whose context could not be decoded.
func changesOf(b *batch, keys []recordKey, old map[recordKey]*errata.Record) (changes []change, unreadable []errata.Position) {
	changes = make([]change, 0, len(keys))
	for _, key := range keys {
		ch := change{key: key, old: old[key], now: old[key]}
		if d, folded := b.deltas[key]; folded {
			d = d.whole()
			now, payload, err := advance(ch.old, d)
			if err != nil {
				unreadable = append(unreadable, now.ID)
			}
			ch.now, ch.payload = &now, payload
			ch.hours, ch.hoursOf = d.hours, now.ID
		}
		changes = append(changes, ch)
	}
	return changes, unreadable
}
