package alerts

import (
	"maps"

	errata "github.com/errata-log/errata"
)

// Memory is how long ago a firing may be that is needed, in minutes.
const Memory = maxThrottle

// minFired is how many firings a rule remembers before the first look for old ones.
const minFired = 1 << 12

// silent says whether the rule has fired for the record so lately that it says nothing.
func (w *watched) silent(of errata.Position, clock int64) bool {
	last, before := w.fired[of]
	return before && clock < w.speaks(last)
}

// speaks is when the rule speaks of a record again.
func (w *watched) speaks(last int64) int64 { return last + int64(w.ThrottleMinutes)*millisPerMinute }

// silence notes that the rule has fired for the record. When there is no room, it drops the
// firings that are over, and then makes twice the room for what is left: so a look at all of them
// comes after as many new ones.
func (w *watched) silence(of errata.Position, clock int64) {
	if w.ThrottleMinutes == 0 {
		return
	}
	w.fired[of] = clock
	if len(w.fired) < w.room {
		return
	}
	maps.DeleteFunc(w.fired, func(_ errata.Position, last int64) bool { return w.speaks(last) <= clock })
	w.room = max(minFired, 2*len(w.fired))
}
