package errata

import (
	"bytes"
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Status is the decision of an administrator about a record.
type Status string

// The statuses of a record.
const (
	StatusOpen     Status = "open"
	StatusResolved Status = "resolved"
	StatusMuted    Status = "muted"
)

// Statuses are all statuses, in the order in which they are shown.
var Statuses = []Status{StatusOpen, StatusResolved, StatusMuted}

// statusAliases are other trackers' words for our statuses.
var statusAliases = map[string]Status{
	"new": StatusOpen, "unresolved": StatusOpen, "active": StatusOpen,
	"ignored": StatusMuted, "archived": StatusMuted, "snoozed": StatusMuted,
}

// ParseStatus reads a status, or another tracker's word for it, in any case.
func ParseStatus(name string) (Status, bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	if slices.Contains(Statuses, Status(name)) {
		return Status(name), true
	}
	status, ok := statusAliases[name]
	return status, ok
}

// RecordKey identifies a record.
type RecordKey struct {
	Book      Book
	Signature Signature
}

// Compare orders keys by book, then by signature.
func (k RecordKey) Compare(other RecordKey) int {
	return cmp.Or(cmp.Compare(k.Book, other.Book), bytes.Compare(k.Signature[:], other.Signature[:]))
}

// Changed counts the records that a command changed, by book.
type Changed struct {
	System   uint64 `json:"system"`
	Database uint64 `json:"database"`
}

// Total is the number in both books.
func (c Changed) Total() uint64 { return c.System + c.Database }

// Add counts n records of the book.
func (c *Changed) Add(book Book, n uint64) {
	if book == BookDatabase {
		c.Database += n
	} else {
		c.System += n
	}
}

// Record is one problem: all events of one signature in one book since the record
// exists. Count, FirstSeen, LastSeen, Level, Version, the status fields,
// Environments and Releases change. All other fields come from the first event on the log.
type Record struct {
	Book      Book
	Signature Signature
	// ID is the position of the first event. A problem that is seen again after
	// its record was deleted is a new record with a new id.
	ID Position
	// Version is the position of the last applied event or command.
	Version Position
	Count   uint64
	// FirstSeen is the earliest and LastSeen the latest time of all events.
	FirstSeen, LastSeen time.Time

	// Level is the highest level of all events.
	Level   Level
	File    string
	Line    uint32
	Message string
	Class   string
	URI     string
	Method  string
	UserID  int64
	IP      netip.Addr

	Status Status
	// Regressed says that an event came after the record was resolved.
	Regressed bool
	// Noise says that a noise rule marked the first event: hide_noise hides the record.
	Noise bool

	// Project is the number of the project, 0 when unknown.
	Project uint64
	// Environments and Releases are those of all events, the latest on the log
	// first. Copies of the record share them: not to be changed.
	Environments, Releases []string

	// Users is how many different users its occurrences had, of those that are kept.
	// Only package query fills it in, for answers.
	Users uint64
}

// Key identifies the record.
func (r *Record) Key() RecordKey { return RecordKey{r.Book, r.Signature} }
