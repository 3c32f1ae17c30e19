package audit

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/eventlog"
)

// Actions that do not come from the name of a fact.
const (
	ActionKeyCreate = "key.create"
	ActionKeyRevoke = "key.revoke"
	// ActionKeyChange is a change of a key that this build does not make or
	// cannot read, ActionKeyRemove the end of its entry in the bucket.
	ActionKeyChange = "key.change"
	ActionKeyRemove = "key.remove"
	// A project that was only a number before is made by its first change.
	ActionProjectCreate = "project.create"
	ActionProjectUpdate = "project.update"
	// ActionGap says that facts were lost before they had an entry.
	ActionGap = "audit.gap"
	// ActionForeign names messages in the trail that are no entries of it.
	ActionForeign = "audit.foreign"
)

// actions are the names of commands in the trail; other commands keep theirs.
var actions = map[string]string{
	"delete":  "errors.delete",
	"cleanup": "errors.cleanup",
	"erase":   "errors.erase",
	"status":  "errors.status",
	"import":  "errors.import",
	// The entry's request names the projects.
	"delete-in-projects":  "errors.delete",
	"cleanup-in-projects": "errors.cleanup",
	"status-in-projects":  "errors.status",
	"expire-occurrences":  "errors.expire",
	// It comes before a purge of the log. The cursor in its entry tells the
	// next start that no purged fact was missed.
	"snapshot": "log.snapshot",
	"gap":      "log.gap",
}

// notes are what the trail calls what was noted; other notes keep their names.
var notes = map[string]string{
	eventlog.NoteAlertFailed: "alerts.delivery.fail",
	eventlog.NoteNodeLeft:    "cluster.leave",
}

// stored is the result of a change that has no answer.
var stored = json.RawMessage(`{"stored":true}`)

// origin says which source a change comes from.
type origin int

const (
	fromLog origin = iota
	fromKeys
)

// of is the cursor of the origin.
func (c *Cursors) of(from origin) *uint64 {
	if from == fromKeys {
		return &c.Keys
	}
	return &c.Log
}

// change is a fact on its way to its entry.
type change struct {
	from  origin
	entry Entry // without what sealing adds
	// silent changes have no entry, answered ones wait for their answer.
	silent, answered bool
}

func (c *change) sequence() uint64 { return c.entry.Source.Sequence }

// by fills in who asked for the change.
func (e *Entry) by(a errata.Actor) {
	e.Actor = Actor{KeyID: a.KeyID, KeyName: a.KeyName, IP: a.IP}
	e.Route, e.Scope, e.RequestID = a.Route, a.Scope, a.RequestID
}

// changeOf makes the entry of a command or a setting.
func changeOf(stream string, f *eventlog.Fact) change {
	c := change{from: fromLog, entry: Entry{
		Time: stamp(f.Appended), Source: Source{Stream: stream, Sequence: f.Sequence},
	}}
	c.entry.by(f.By)
	switch f.Kind {
	case eventlog.FactCommand:
		c.silent = meaningless(f)
		c.answered = true
		c.entry.Action = f.Name
		if name, ok := actions[f.Name]; ok {
			c.entry.Action = name
		}
		c.entry.Request = requestPart(f.Data)
		switch f.Name {
		case eventlog.CommandErase:
			c.entry.Request = erased(f.Data)
		case eventlog.CommandMatching:
			c.entry.Action = matchingAction(f.Data)
		}
	case eventlog.FactSetting:
		c.entry.Action = "settings." + f.Name
		c.entry.Result = stored
		var body struct {
			Version       int `json:"v"`
			Before, After json.RawMessage
		}
		if _, list := lists[f.Name]; list {
			if json.Unmarshal(f.Data, &body) != nil || body.Version != 1 || !c.entry.thingChange(f.Name, body.Before, body.After) {
				c.entry.Request = digest(f.Data) // of another build; it may have secrets in another form
			}
			break
		}
		if json.Unmarshal(f.Data, &body) != nil || body.Version != 1 {
			c.entry.Request = requestPart(f.Data) // of another build: shown as it is
			break
		}
		c.entry.Before, c.entry.After = part(body.Before), part(body.After)
		if strings.HasPrefix(f.Name, eventlog.ProjectSettings) {
			c.entry.Action = ActionProjectUpdate
			if string(body.Before) == "null" {
				c.entry.Action = ActionProjectCreate
			}
		}
	case eventlog.FactNote:
		c.entry.Action, c.entry.Request, c.entry.Result = cmp.Or(notes[f.Name], f.Name), requestPart(f.Data), stored
	default:
		c.silent = true
	}
	return c
}

// matchingAction is what a command over a filter does: the same as one with
// signatures.
func matchingAction(data []byte) string {
	var body eventlog.Matching
	if json.Unmarshal(data, &body) == nil && body.Status != "" {
		return actions[eventlog.CommandStatus]
	}
	return actions[eventlog.CommandDelete]
}

// erased is what the trail keeps of an erasure: how many persons, not whom,
// because the trail is never cut.
func erased(data []byte) json.RawMessage {
	var body eventlog.Erase
	if json.Unmarshal(data, &body) != nil {
		return digest(data)
	}
	return encode(map[string]int{"users": len(body.Users), "addresses": len(body.Addresses)})
}

// meaningless says whether a command changes nothing that people see.
func meaningless(f *eventlog.Fact) bool {
	switch f.Name {
	case eventlog.CommandBarrier, eventlog.CommandPad:
		return true
	}
	return false
}

// keyWrite is one revision of a key in the bucket.
type keyWrite struct {
	stream   string
	sequence uint64
	name     string // of the entry in the bucket
	value    []byte
	removed  bool
	at       time.Time
}

// keyChange makes the entry of a revision. before is the revision before it,
// nil when there is none.
func keyChange(w keyWrite, before []byte) change {
	c := change{from: fromKeys, entry: Entry{
		Time: stamp(w.at), Action: ActionKeyChange, Result: stored,
		Source: Source{Stream: w.stream, Sequence: w.sequence},
	}}
	if before != nil {
		old, err := access.ParseTrace(w.name, before)
		c.entry.Before = traced(old, err)
	}
	if w.removed {
		c.entry.Action = ActionKeyRemove
		return c
	}
	trace, err := access.ParseTrace(w.name, w.value)
	c.entry.by(trace.By)
	c.entry.After = traced(trace, err)
	switch {
	case err != nil:
	case !trace.Revoked.IsZero():
		c.entry.Action = ActionKeyRevoke
	case before == nil:
		c.entry.Action = ActionKeyCreate
	}
	return c
}

// traced is a key as JSON. Of a key that cannot be read it has the id alone,
// because the rest may be anything.
func traced(t access.Trace, err error) json.RawMessage {
	if err != nil {
		return encode(map[string]any{"id": t.ID, "unreadable": true})
	}
	return part(encode(t))
}

// gapChange makes the entry that says that facts first to last of a source are
// lost.
func gapChange(from origin, stream string, first, last uint64, reason string, at time.Time) change {
	c := change{from: from, entry: Entry{
		Time: stamp(at), Action: ActionGap, Source: Source{Stream: stream, Sequence: last},
		Request: encode(map[string]any{"stream": stream, "first": first, "last": last, "reason": reason}),
	}}
	c.entry.by(errata.Actor{KeyID: errata.ActorService})
	return c
}

func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
