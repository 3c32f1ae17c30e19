package errata

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"time"
)

// EventID identifies one occurrence for good: however often and through
// however many doors the same occurrence arrives, it counts once.
type EventID [16]byte

// NewEventID derives the id from the project and the id that the client gave
// the event. The project is part of it because client ids are only unique
// within one application, and so that nobody can hide another project's events.
func NewEventID(project uint64, clientID string) EventID {
	buf := make([]byte, 0, 96)
	buf = append(buf, "errata event id v1\x00"...)
	buf = binary.AppendUvarint(buf, project)
	buf = binary.AppendUvarint(buf, uint64(len(clientID)))
	buf = append(buf, clientID...)
	sum := sha256.Sum256(buf)
	return EventID(sum[:16])
}

// String is the id as 32 lower-case hex digits.
func (id EventID) String() string { return hex.EncodeToString(id[:]) }

// Event is one caught error as it stands on the log: normalised, scrubbed,
// signed. It holds all that the projection needs, because the projector reads
// no clock and no configuration.
type Event struct {
	ID        EventID
	Project   uint64
	Book      Book
	Signature Signature
	Level     Level

	// Time is when it happened: the client's word where that is believable,
	// otherwise Received. Both are UTC with millisecond resolution.
	Time time.Time
	// Received is when ingest took it, set once.
	Received time.Time

	File    string // relative to the install root
	Line    uint32
	Message string // message_preview: first line, at most 200 runes
	Class   string // exception class
	URI     string // path and filtered query
	Method  string
	UserID  int64
	IP      netip.Addr // the zero Addr when unknown

	// ScrubVersion is the version of the scrubbing rules that were applied.
	ScrubVersion uint32
	// Payload is the kept context as one JSON object.
	Payload []byte
}

// Position is a place in the log's total order: the stream sequence of the
// block and the index of the event within it. It grows along the log, is
// unique per event, and stays within 2^53 so that JSON numbers can carry it.
type Position uint64

// MaxBlockEvents is the most events that one block may hold. 13 bits for the
// index leave 2^40 blocks before a Position outgrows a JSON number.
const MaxBlockEvents = 1 << positionIndexBits

const positionIndexBits = 13

// PositionOf is the position of event index in the block at stream sequence seq.
func PositionOf(seq uint64, index int) Position {
	return Position(seq<<positionIndexBits | uint64(index))
}

// Sequence is the stream sequence of the block that the position lies in.
func (p Position) Sequence() uint64 { return uint64(p) >> positionIndexBits }
