package projector

import (
	"encoding/json"
	"fmt"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// command is a decoded command of the log. A command that changes something has
// exactly one of edit, sweep, matching, erasure and snapshot.
type command struct {
	sequence uint64
	// answer is the answer of a command that changes nothing.
	answer any

	// edit changes each record with one of these keys; it returns nil to remove it.
	edit func(r errata.Record) *errata.Record
	keys []recordKey
	// sweep removes all records up to a time.
	sweep *sweep
	// matching is which records edit changes, in the place of keys.
	matching *matching
	// erasure removes the data of persons from all records.
	erasure *erasure
	// snapshot makes a copy of all tables.
	snapshot *eventlog.Snapshot
}

// sweep is a cleanup: it removes records last seen up to before.
type sweep struct{ before time.Time }

// alone says whether all facts before the command must be in the tables before it
// is carried out, because it works on the tables.
func (c *command) alone() bool {
	return c != nil && (c.sweep != nil || c.matching != nil || c.erasure != nil || c.snapshot != nil)
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
	case eventlog.CommandDelete:
		var body eventlog.Signatures
		if err = json.Unmarshal(f.Data, &body); err == nil {
			c.keys, err = keysOf(body.Signatures)
			c.edit = remove
		}
	case eventlog.CommandStatus:
		var body eventlog.StatusMove
		if err = json.Unmarshal(f.Data, &body); err == nil {
			c.keys, err = keysOf(body.Signatures)
			c.edit = moveTo(body.Status, c.position())
		}
	case eventlog.CommandMatching:
		var body eventlog.Matching
		if err = json.Unmarshal(f.Data, &body); err == nil {
			c.matching, err = newMatching(body.Filter)
		}
		if c.edit = remove; body.Status != "" {
			c.edit = moveTo(body.Status, c.position())
		}
	case eventlog.CommandCleanup:
		var body eventlog.Cleanup
		err = json.Unmarshal(f.Data, &body)
		c.sweep = &sweep{before: time.UnixMilli(body.Before).UTC()}
	case eventlog.CommandErase:
		var body eventlog.Erase
		if err = json.Unmarshal(f.Data, &body); err == nil {
			c.erasure, err = newErasure(body)
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
		if ch.now == nil || !meant[ch.key] {
			continue
		}
		if ch.now = c.edit(*ch.now); ch.now == nil {
			ch.payload = nil
		}
		changed.Add(ch.key.book, 1)
	}
	return changed
}
