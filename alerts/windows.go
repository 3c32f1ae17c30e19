package alerts

import "slices"

// millisPerMinute is the unit of windows. An event counts until as many minutes of the clock
// have begun as the window has.
const millisPerMinute = 60_000

// windows count the events of records in the last minutes, for each rule with a frequency.
// What they hold depends on the events and the clock alone, not on the order of the events.
type windows struct {
	of map[pair]*window
	// swept is the minute at which windows without events were dropped last.
	swept int64
}

// window is what one rule counts of one record.
type window struct {
	minutes []minute // with events, the oldest first
	length  int64
	events  uint64
	// users are those of all minutes, with the number of minutes that have them.
	users map[uint64]int
}

// minute is what happened in one minute.
type minute struct {
	at     int64
	events uint64
	users  map[uint64]struct{} // nil when they need not be told apart
}

func newWindows() windows { return windows{of: map[pair]*window{}} }

// WindowFrom is the first minute that counts in the window of a rule with a frequency.
func WindowFrom(rule Rule, clock int64) (minute int64) {
	return clock/millisPerMinute - int64(rule.When.Frequency.Minutes) + 1
}

// add counts an event, and says whether the frequency is reached.
func (w *windows) add(of pair, f *Frequency, s *Sighting) bool {
	now, at := s.Clock/millisPerMinute, s.Received/millisPerMinute
	w.sweep(now)
	if at <= now-int64(f.Minutes) {
		return false // it was long on its way
	}
	one := w.window(of, f)
	one.drop(now)
	m := one.minute(at)
	m.events++
	one.events++
	if f.Users > 0 && s.User != 0 {
		one.addUser(m, s.User)
	}
	return one.events >= f.Count && uint64(len(one.users)) >= f.Users
}

// remember counts the events of a minute that were before.
func (w *windows) remember(of pair, f *Frequency, at int64, events uint64, users []uint64) {
	one := w.window(of, f)
	m := one.minute(at)
	m.events += events
	one.events += events
	for _, user := range users {
		one.addUser(m, user)
	}
}

// forget lets the counting of a rule and a record begin anew.
func (w *windows) forget(of pair) { delete(w.of, of) }

func (w *windows) window(of pair, f *Frequency) *window {
	one := w.of[of]
	if one == nil {
		one = &window{length: int64(f.Minutes), users: map[uint64]int{}}
		w.of[of] = one
	}
	return one
}

// sweep drops the windows that have nothing in them any more, once in each minute.
func (w *windows) sweep(now int64) {
	if now == w.swept {
		return
	}
	w.swept = now
	for of, one := range w.of {
		if one.drop(now); len(one.minutes) == 0 {
			delete(w.of, of)
		}
	}
}

// drop drops the minutes that are over.
func (w *window) drop(now int64) {
	old := 0
	for ; old < len(w.minutes) && w.minutes[old].at <= now-w.length; old++ {
		w.events -= w.minutes[old].events
		for user := range w.minutes[old].users {
			if w.users[user]--; w.users[user] == 0 {
				delete(w.users, user)
			}
		}
	}
	w.minutes = slices.Delete(w.minutes, 0, old)
}

// minute is that of the time; most often it is the last one.
func (w *window) minute(at int64) *minute {
	i := len(w.minutes)
	for i > 0 && w.minutes[i-1].at > at {
		i--
	}
	if i == 0 || w.minutes[i-1].at != at {
		w.minutes = slices.Insert(w.minutes, i, minute{at: at})
		i++
	}
	return &w.minutes[i-1]
}

// addUser notes a user of the minute. Beyond the largest number that a rule can ask for, no
// more are told apart.
func (w *window) addUser(m *minute, user uint64) {
	if _, known := m.users[user]; known || len(m.users) == MaxUsers {
		return
	}
	if m.users == nil {
		m.users = map[uint64]struct{}{}
	}
	m.users[user] = struct{}{}
	w.users[user]++
}
