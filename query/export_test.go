package query

import (
	"crypto/md5"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
)

// SetPatience shortens the wait for an engine that does not answer.
func (r *Reader) SetPatience(d time.Duration) { r.patience = d }

// SetSeconds sets how long a query may take. An answer may take twice as long. It is for tests that
// must not fail because the machine is busy.
func (r *Reader) SetSeconds(seconds int) {
	r.seconds, r.patience = seconds, 2*time.Duration(seconds)*time.Second
}

// SetGroupMemory makes groups of records go to a file earlier, for the length of a test.
func SetGroupMemory(t *testing.T, memory uint64) {
	before := groupMemory
	groupMemory = memory
	t.Cleanup(func() { groupMemory = before })
}

// The limits of loud records.
const (
	LoudFrom         = loudFrom
	AgePerOccurrence = agePerOccurrence
	OldestCount      = oldestCount
	MaxLoud          = maxLoud
)

// LoudUsers are the users of loud records, by names in the place of signatures.
type LoudUsers struct{ of *loudUsers }

// NewLoudUsers remembers nothing yet.
func NewLoudUsers() LoudUsers { return LoudUsers{newLoudUsers()} }

func named(name string) errata.Signature { return md5.Sum([]byte(name)) }

// Add notes a record with a user.
func (l LoudUsers) Add(name string, occurrences uint64, at time.Time) {
	l.of.add(named(name), 1, 1, occurrences, at)
}

// Has says whether it is remembered.
func (l LoudUsers) Has(name string) bool { return l.of.has(named(name)) }
