package projector

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// command is a decoded command of the log. A command that changes something has
// exactly one of edit, sweep, matching, erasure, expiry and snapshot.
type command struct {
	sequence uint64
	// answer is the answer of a command that changes nothing.
	answer any

	// edit changes each record with one of these keys; it returns nil to remove it.
	edit func(r errata.Record) *errata.Record
	keys []recordKey
	// within are the projects whose records the edit changes; empty for all.
	within []uint64
	// sweep removes all records up to a time.
	sweep *sweep
	// matching is which records edit changes, in the place of keys.
	matching *matching
	// erasure removes the data of persons from all records.
	erasure *erasure
	// expiry removes occurrences.
	expiry *expiry
	// snapshot makes a copy of all tables.
	snapshot *eventlog.Snapshot
}

// sweep is a cleanup: it removes records last seen up to before.
type sweep struct {
	before time.Time
	within []uint64 // their projects; empty for all
}

// alone says whether all facts before the command must be in the tables before it
// is carried out, because it works on the tables.
func (c *command) alone() bool {
	return c != nil && (c.sweep != nil || c.matching != nil || c.erasure != nil || c.expiry != nil || c.snapshot != nil)
}

// position is the position of the command.
func (c *command) position() errata.Position { return errata.PositionOf(c.sequence, 0) }

// parseCommand decodes a command; nil for nil. A command that cannot be decoded, or
// is of a newer version, changes nothing, and its answer is an error.
func parseCommand(f *eventlog.Fact) *command {
	if f == nil {
		return nil
	}
	c := &command{sequence: f.Sequence}
	var err error
	switch f.Name {
	case eventlog.CommandBarrier, eventlog.CommandPad, eventlog.CommandImported, eventlog.CommandGap:
		// They change nothing: the sender waits for the facts before them, or only
		// uses up a sequence.
		c.answer = map[string]uint64{"sequence": f.Sequence}
	case eventlog.CommandDelete, eventlog.CommandDeleteIn:
		var body eventlog.Signatures
		if c.within, err = withinIn(f, &body, &body.Within); err == nil {
			c.keys, err = keysOf(body.Signatures)
			c.edit = remove
		}
	case eventlog.CommandStatus, eventlog.CommandStatusIn:
		var body eventlog.StatusMove
		if c.within, err = withinIn(f, &body, &body.Within); err == nil {
			c.keys, err = keysOf(body.Signatures)
			c.edit = moveTo(body.Status, c.position())
		}
	case eventlog.CommandMatching:
		var body eventlog.Matching
		if err = json.Unmarshal(f.Data, &body); err == nil {
			c.matching, err = newMatching(body.Filter, body.Projects)
		}
		if c.edit = remove; body.Status != "" {
			c.edit = moveTo(body.Status, c.position())
		}
	case eventlog.CommandCleanup, eventlog.CommandCleanupIn:
		var body eventlog.Cleanup
		var within []uint64
		within, err = withinIn(f, &body, &body.Within)
		c.sweep = &sweep{before: time.UnixMilli(body.Before).UTC(), within: within}
	case eventlog.CommandErase:
		var body eventlog.Erase
		if err = json.Unmarshal(f.Data, &body); err == nil {
			c.erasure, err = newErasure(body)
		}
	case eventlog.CommandExpire:
		var body eventlog.Expire
		if err = json.Unmarshal(f.Data, &body); err == nil {
			c.expiry, err = newExpiry(body)
		}
	case eventlog.CommandSnapshot:
		c.snapshot = new(eventlog.Snapshot)
		err = json.Unmarshal(f.Data, c.snapshot)
	default:
		c.answer = eventlog.Refused{Error: fmt.Sprintf("this version does not know the command %q", f.Name)}
	}
	if err != nil {
		return &command{sequence: f.Sequence, answer: eventlog.Refused{Error: fmt.Sprintf("the command %s cannot be read: %v", f.Name, err)}}
	}
	return c
}

// withinIn decodes the body of a command and returns the projects that it is about,
// nil for all. within is a part of the body. Only a command within projects has some.
func withinIn(f *eventlog.Fact, body any, within *eventlog.Within) ([]uint64, error) {
	if err := json.Unmarshal(f.Data, body); err != nil {
		return nil, err
	}
	all := f.Name == eventlog.CommandDelete || f.Name == eventlog.CommandStatus || f.Name == eventlog.CommandCleanup
	if all != (len(within.Projects) == 0) {
		return nil, fmt.Errorf("it names %d projects", len(within.Projects))
	}
	return within.Projects, nil
}

// remove removes a record.
func remove(errata.Record) *errata.Record { return nil }

// moveTo gives a record the status.
func moveTo(status errata.Status, at errata.Position) func(errata.Record) *errata.Record {
	return func(r errata.Record) *errata.Record {
		r = move(r, status, at)
		return &r
	}
}

// keysOf returns the keys of the signatures in both books, each once.
func keysOf(signatures []string) ([]recordKey, error) {
	seen := make(map[errata.Signature]bool, len(signatures))
	keys := make([]recordKey, 0, len(errata.Books)*len(signatures))
	for _, text := range signatures {
		signature, err := errata.ParseSignature(text)
		if err != nil {
			return nil, err
		}
		if seen[signature] {
			continue
		}
		seen[signature] = true
		for _, book := range errata.Books {
			keys = append(keys, recordKey{book, signature})
		}
	}
	return keys, nil
}

// encodeAnswer encodes an answer as JSON.
func encodeAnswer(answer any) eventlog.Answer {
	data, err := json.Marshal(answer)
	if err != nil {
		panic(err) // structs of strings and numbers always encode
	}
	return data
}

// apply carries out an edit on the changes of the batch and returns the answer.
func (c *command) apply(changes []change) any {
	if c.edit == nil || c.matching != nil {
		return c.answer
	}
	meant := make(map[recordKey]bool, len(c.keys))
	for _, key := range c.keys {
		meant[key] = true
	}
	var changed errata.Changed
	for i := range changes {
		ch := &changes[i]
		if ch.now == nil || !meant[ch.key] || len(c.within) > 0 && !slices.Contains(c.within, ch.now.Project) {
			continue
		}
		if ch.now = c.edit(*ch.now); ch.now == nil {
			ch.payload = nil
		}
		changed.Add(ch.key.book, 1)
	}
	return changed
}
