package challenge

import (
	"net/netip"
	"time"
)

// Rate is a token bucket: Burst at once, then one every Every.
type Rate struct {
	Burst int
	Every time.Duration
}

// The rates. Each is full again within an hour, for which the bucket keeps its
// level.
var (
	// IssueAccount bounds the codes sent to one person: five for somebody who
	// clicks again and again, then one in five minutes.
	IssueAccount = Rate{Burst: 5, Every: 5 * time.Minute}
	// IssueAddress bounds the codes asked for from one address, which an office
	// may share.
	IssueAddress = Rate{Burst: 30, Every: 30 * time.Second}
	// TryAccount bounds the answers for one account over all its challenges and
	// its app. These are about 300 a day: somebody who has the password and
	// guesses for a year finds a mailed code with a chance of 1 in 10, and a
	// code of an app, of which three are good at any time, with 1 in 4. A right
	// answer does not count.
	TryAccount = Rate{Burst: 10, Every: 5 * time.Minute}
	// TryAddress bounds the answers from one address.
	TryAddress = Rate{Burst: 60, Every: 10 * time.Second}
)

// Level is how far a token bucket is used up: the time at which it is full again.
type Level struct {
	Full time.Time `json:"full"`
}

// Take takes one token. wait is 0 when there was one; else it is the time until
// there is one, and the level stays.
func (r Rate) Take(l Level, now time.Time) (next Level, wait time.Duration) {
	l = r.normal(l, now)
	next = Level{Full: l.Full.Add(r.Every)}
	if wait := next.Full.Sub(now) - r.room(); wait > 0 {
		return l, wait
	}
	return next, 0
}

// Give gives one token back.
func (r Rate) Give(l Level, now time.Time) Level {
	l.Full = r.normal(l, now).Full.Add(-r.Every)
	return r.normal(l, now)
}

// normal bounds a level to between full and empty: a clock that was set back
// must not lock anybody out.
func (r Rate) normal(l Level, now time.Time) Level {
	switch empty := now.Add(r.room()); {
	case l.Full.Before(now):
		return Level{Full: now.UTC()}
	case l.Full.After(empty):
		return Level{Full: empty.UTC()}
	default:
		return Level{Full: l.Full.UTC()}
	}
}

// room is the time in which an empty bucket becomes full.
func (r Rate) room() time.Duration { return time.Duration(r.Burst) * r.Every }

// ownNetwork is the longest IPv6 prefix, in bits, that providers give to a
// customer.
const ownNetwork = 64

// origin is the text by which an address is counted; "" for none, which is not
// counted.
func origin(addr netip.Addr) string {
	addr = addr.Unmap().WithZone("")
	switch {
	case !addr.IsValid():
		return ""
	case addr.Is4():
		return addr.String()
	default:
		prefix, err := addr.Prefix(ownNetwork)
		if err != nil {
			return addr.String()
		}
		return prefix.String()
	}
}
