package alerts

import (
	errata "github.com/errata-log/errata"
)

// millisPerMinute is the unit of windows. An event counts until as many minutes of the clock
// have begun as the window has.
const millisPerMinute = 60_000

// WindowFrom is the first minute that counts in the window of a rule with a frequency.
func WindowFrom(rule Rule, clock int64) (minute int64) {
	return clock/millisPerMinute - int64(rule.When.Frequency.Minutes) + 1
}

// windows count the events of records in the last minutes, for one rule with a frequency.
// What they hold depends on the events and the clock alone, not on the order of the events.
type windows struct {
	length int64 // in minutes
	of     map[errata.Position]window
	// swept is the minute at which windows without events were dropped last.
	swept int64
}

// window is what a rule counts of one record. Most records have events in one minute only,
// and a flood makes a window for each of many records, so that case takes no more memory.
type window struct {
	events uint64
	at     int64   // the minute of all events, while more is nil
	more   *minute // the minutes with events, the oldest first
	users  uint64  // how many different ones
}

// minute is what happened in one minute.
type minute struct {
	at     int64
	events uint64
	users  map[uint64]struct{} // nil when they need not be told apart
	next   *minute
}

func newWindows(f *Frequency) windows {
	return windows{length: int64(f.Minutes), of: map[errata.Position]window{}}
}

// add counts an event, and says whether the frequency is reached.
func (w *windows) add(of errata.Position, f *Frequency, s *Sighting) bool {
	now, at := s.Clock/millisPerMinute, s.Received/millisPerMinute
	w.sweep(now)
	if at <= now-w.length {
		return false // it was long on its way
	}
	one := w.of[of]
	one.drop(now - w.length)
	one.count(at, 1)
	if f.Users > 0 && s.User != 0 {
		one.addUser(at, s.User)
	}
	w.of[of] = one
	return one.events >= f.Count && one.users >= f.Users
}

// remember counts the events of a minute that were before.
func (w *windows) remember(of errata.Position, at int64, events uint64, users []uint64) {
	one := w.of[of]
	one.count(at, events)
	for _, user := range users {
		one.addUser(at, user)
	}
	w.of[of] = one
}

// forget lets the counting of a record begin anew.
func (w *windows) forget(of errata.Position) { delete(w.of, of) }

// sweep drops the windows that have nothing in them any more, once in each minute.
func (w *windows) sweep(now int64) {
	if now == w.swept {
		return
	}
	w.swept = now
	for of, one := range w.of {
		if one.drop(now - w.length); one.events == 0 {
			delete(w.of, of)
		} else {
			w.of[of] = one
		}
	}
}

// drop drops the minutes up to one.
func (w *window) drop(upTo int64) {
	if w.more == nil {
		if w.at <= upTo {
			w.events = 0
		}
		return
	}
	for ; w.more != nil && w.more.at <= upTo; w.more = w.more.next {
		w.events -= w.more.events
		for user := range w.more.users {
			if !w.more.next.has(user) {
				w.users--
			}
		}
	}
}

// count counts events of a minute.
func (w *window) count(at int64, events uint64) {
	if w.more == nil && (w.events == 0 || w.at == at) {
		w.at, w.events = at, w.events+events
		return
	}
	w.minute(at).events += events
	w.events += events
}

// minute is that of the time.
func (w *window) minute(at int64) *minute {
	if w.more == nil && w.events > 0 {
		w.more = &minute{at: w.at, events: w.events}
	}
	place := &w.more
	for *place != nil && (*place).at < at {
		place = &(*place).next
	}
	if *place == nil || (*place).at != at {
		*place = &minute{at: at, next: *place}
	}
	return *place
}

// addUser notes a user of a minute. Beyond the largest number that a rule can ask for, no
// more are told apart.
func (w *window) addUser(at int64, user uint64) {
	m := w.minute(at)
	if _, known := m.users[user]; known || len(m.users) == MaxUsers {
		return
	}
	if !w.more.has(user) {
		w.users++
	}
	if m.users == nil {
		m.users = map[uint64]struct{}{}
	}
	m.users[user] = struct{}{}
}

// has says whether the minute, or one after it, has the user.
func (m *minute) has(user uint64) bool {
	for ; m != nil; m = m.next {
		if _, found := m.users[user]; found {
			return true
		}
	}
	return false
}
