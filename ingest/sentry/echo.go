package sentry

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
)

const (
	// echoWindow is how far the times of an event and of its log may be apart. The same
	// process stamps both, within some milliseconds.
	echoWindow = 2 * time.Second
	// echoAge is how long an event is remembered at least. SDKs send their logs within
	// five seconds.
	echoAge = 2 * time.Minute
	// echoMemory bounds the entries of each of the two generations, and echoSame those of
	// one key. An entry takes about 300 bytes.
	echoMemory = 1 << 15
	echoSame   = 1000
)

// echoes finds the logs that repeat an event. An SDK whose logging integration makes both
// of one call sends the event at once, and the log in a batch some seconds later. Nothing
// in the log says whether there was an event, so echoes remembers the events that a logger
// made, and those of exceptions. A log repeats
//
//   - an event of the same project, trace, logger, level and text, or
//   - the event of an exception of the same trace, if the log is a library's. A framework
//     logs an exception that it does not handle, and the SDK makes no second event of it.
//
// Each event has one log of either kind at most, the nearest in time. Both must reach the
// same node, and the node must not start in between; otherwise both count. echoes is safe
// for concurrent use.
type echoes struct {
	now   func() time.Time
	drops prometheus.Counter

	mu            sync.Mutex
	began         time.Time
	recent, older echoGeneration
}

// echoGeneration holds the events of one period.
type echoGeneration struct {
	byKey map[echoKey][]*told
	byID  map[keyed]*told
}

type keyed struct {
	key echoKey
	id  string
}

func newEchoGeneration() echoGeneration {
	return echoGeneration{byKey: map[echoKey][]*told{}, byID: map[keyed]*told{}}
}

// echoKey is a hash of what an event and its log have in common.
type echoKey [16]byte

// told is an event that may have a log.
type told struct {
	at time.Time
	by string // id of its log, "" as long as it has none
}

func newEchoes(now func() time.Time, to prometheus.Registerer) (*echoes, error) {
	drops, err := door.Register(to, prometheus.NewCounter(prometheus.CounterOpts{
		Name: "errata_sentry_repeated_logs_total",
		Help: "Logs of Sentry SDKs that do not count, because the same call to a logger, or the same exception, came as an event.",
	}))
	return &echoes{now: now, drops: drops, recent: newEchoGeneration(), older: newEchoGeneration()}, err
}

// python is the platform whose SDK logs what it also sends as an event of an integration.
const python = "python"

// keysOf are the keys under which an event is remembered, none if it can have no log.
func keysOf(project uint64, d *ingest.Draft) (keys []echoKey) {
	c := &d.Context
	if !hasTrace(d) || d.Time.IsZero() {
		return nil
	}
	if said := saidBy(d); c.Logger != "" && said != "" {
		keys = append(keys, echoKeyOf(project, c.TraceID, c.Logger, d.Level.String(), said))
	}
	if c.Platform == python && d.Class != "" {
		keys = append(keys, exceptionKey(project, d))
	}
	return keys
}

func hasTrace(d *ingest.Draft) bool { return strings.Trim(d.Context.TraceID, "0") != "" }

// saidBy is what the application wrote to its log.
func saidBy(d *ingest.Draft) string {
	if d.Context.Log != "" {
		return d.Context.Log
	}
	return d.Message
}

func exceptionKey(project uint64, d *ingest.Draft) echoKey {
	return echoKeyOf(project, d.Context.TraceID, "exception")
}

func echoKeyOf(project uint64, parts ...string) echoKey {
	text := make([]byte, 0, 512)
	text = binary.AppendUvarint(text, project)
	for _, part := range parts {
		text = binary.AppendUvarint(text, uint64(len(part)))
		text = append(text, part...)
	}
	sum := sha256.Sum256(text)
	return echoKey(sum[:16])
}

// once takes the logs that repeat an event out of a request, and remembers its events. The
// caller calls forget with them if they are not stored.
func (e *echoes) once(project uint64, in *intake) (kept []*told) {
	kept = e.remember(project, in.drafts)
	in.drafts = e.without(project, in)
	return kept
}

// remember keeps the events among the drafts. forget undoes it, if the events are not
// stored: then their logs count.
func (e *echoes) remember(project uint64, drafts []ingest.Draft) (kept []*told) {
	for i := range drafts {
		d := &drafts[i]
		if d.Context.Source == sourceLog {
			continue
		}
		for _, key := range keysOf(project, d) {
			if one := e.add(key, d); one != nil {
				kept = append(kept, one)
			}
		}
	}
	return kept
}

// add keeps an event under a key. It is nil for one that is kept already, because it came
// again.
func (e *echoes) add(key echoKey, d *ingest.Draft) *told {
	e.mu.Lock()
	defer e.mu.Unlock()
	if now := e.now(); now.Sub(e.began) > echoAge || len(e.recent.byID) >= echoMemory {
		e.older, e.recent, e.began = e.recent, newEchoGeneration(), now
	}
	id := keyed{key, d.ClientID}
	if e.recent.byID[id].isKept() || e.older.byID[id].isKept() {
		return nil
	}
	same := e.recent.byKey[key]
	if len(same) == echoSame {
		same = same[1:]
	}
	one := &told{at: d.Time}
	e.recent.byKey[key], e.recent.byID[id] = append(same, one), one
	return one
}

func (t *told) isKept() bool { return t != nil && !t.at.IsZero() }

func (e *echoes) forget(kept []*told) {
	if len(kept) == 0 {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, one := range kept {
		one.at = time.Time{} // no log is near it
	}
}

// without is the drafts of a request without the logs that repeat an event.
func (e *echoes) without(project uint64, in *intake) []ingest.Draft {
	if len(in.byLogger) == 0 {
		return in.drafts
	}
	return slices.DeleteFunc(in.drafts, func(d ingest.Draft) bool {
		repeated := in.byLogger[d.ClientID] && e.repeats(project, &d)
		if repeated {
			e.drops.Inc()
		}
		return repeated
	})
}

// repeats says whether the log d repeats an event, which then has its log.
func (e *echoes) repeats(project uint64, d *ingest.Draft) bool {
	if !hasTrace(d) || d.Time.IsZero() {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.take(echoKeyOf(project, d.Context.TraceID, d.Context.Logger, d.Level.String(), d.Message), d) {
		return true
	}
	return ofLibrary(d.File) && e.take(exceptionKey(project, d), d)
}

// ofLibrary says whether a file of Python is not one of the application.
func ofLibrary(file string) bool {
	return strings.Contains(file, "site-packages/") || strings.Contains(file, "dist-packages/") || strings.Contains(file, "lib/python")
}

// take gives the log d to the nearest event that has none, or has this one already.
func (e *echoes) take(key echoKey, d *ingest.Draft) bool {
	var nearest *told
	for _, list := range [][]*told{e.older.byKey[key], e.recent.byKey[key]} {
		for _, one := range list {
			apart := one.at.Sub(d.Time).Abs()
			switch {
			case one.by == d.ClientID:
				return true
			case one.by != "" || apart > echoWindow:
			case nearest == nil || apart < nearest.at.Sub(d.Time).Abs():
				nearest = one
			}
		}
	}
	if nearest == nil {
		return false
	}
	nearest.by = d.ClientID
	return true
}
