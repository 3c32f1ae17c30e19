package projector

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/go-faster/jx"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// erasures are those of the log. The events before them are still on it as they came, so
// whoever shows one asks here first. A purge takes an erasure together with all events
// that it was about.
type erasures struct {
	log eventlog.Log

	mu   sync.Mutex
	list []logErasure
	next uint64 // the sequence to go on reading from
}

type logErasure struct {
	sequence uint64
	*erasure
}

// all reads those that came since the last call, and returns all.
func (e *erasures) all(ctx context.Context) ([]logErasure, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	fresh, err := eventlog.Erasures(ctx, e.log, e.next)
	if err != nil {
		return nil, err
	}
	for _, f := range fresh {
		e.next = f.Sequence + 1
		if whose, err := newErasure(f.Erase); err == nil { // one with an error was refused
			e.list = append(e.list, logErasure{f.Sequence, whose})
		}
	}
	return slices.Clone(e.list), nil
}

// erased says whether an erasure after the event at the position meets it.
func erased(list []logErasure, ev *errata.Event, at errata.Position) bool {
	return slices.ContainsFunc(list, func(e logErasure) bool { return e.sequence > at.Sequence() && e.meets(ev) })
}

// meets says whether the event comes from one of the persons, or names their addresses.
func (e *erasure) meets(ev *errata.Event) bool {
	return slices.Contains(e.users, ev.Trail.User) || ev.UserID != 0 && slices.Contains(e.ids, ev.UserID) ||
		slices.Contains(e.users, userIn(ev.Payload)) || ev.IP.IsValid() && slices.Contains(e.addresses, ev.IP) ||
		e.inText != nil && (e.inText.Match(ev.Payload) || e.inText.MatchString(ev.Trail.User))
}

// userOf is the user as the application named it, "" when unknown.
func userOf(ev *errata.Event) string {
	switch {
	case ev.Trail.User != "":
		return ev.Trail.User
	case ev.UserID != 0:
		return strconv.FormatInt(ev.UserID, 10)
	default:
		return userIn(ev.Payload)
	}
}

// userIn is the user in a payload, "" when there is none.
func userIn(payload []byte) (user string) {
	if len(payload) == 0 {
		return ""
	}
	// What cannot be decoded names nobody.
	_ = jx.DecodeBytes(payload).ObjBytes(func(d *jx.Decoder, key []byte) (err error) {
		if string(key) != "user" || d.Next() != jx.String {
			return d.Skip()
		}
		user, err = d.Str()
		return err
	})
	return user
}
