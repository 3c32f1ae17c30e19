package errata

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"time"
)

// EventID identifies an event. An event that arrives again, through any receiver,
// has the same id and counts once.
type EventID [16]byte

// NewEventID makes the id of the project and the client's id of the event. A
// client's id is unique only within an application. With the project in it, the
// id cannot suppress an event of another project.
func NewEventID(project uint64, clientID string) EventID {
	buf := make([]byte, 0, 96)
	buf = append(buf, "errata event id v1\x00"...)
	buf = binary.AppendUvarint(buf, project)
	buf = binary.AppendUvarint(buf, uint64(len(clientID)))
	buf = append(buf, clientID...)
	sum := sha256.Sum256(buf)
	return EventID(sum[:16])
}

// ShortUUID gives a UUID without dashes and in lower case, as ids are compared and
// stored: clients write the same one in several ways. Any other text comes back as it
// is, and ok is false.
func ShortUUID[T string | []byte](id T) (short T, ok bool) {
	const dashed, plain = 36, 32
	if len(id) != dashed && len(id) != plain {
		return id, false
	}
	changed := len(id) == dashed
	for i := range len(id) {
		switch c := id[i]; {
		case len(id) == dashed && isDashAt(i):
			if c != '-' {
				return id, false
			}
		case '0' <= c && c <= '9', 'a' <= c && c <= 'f':
		case 'A' <= c && c <= 'F':
			changed = true
		default:
			return id, false
		}
	}
	if !changed {
		return id, true
	}
	digits := make([]byte, 0, plain)
	for i := range len(id) {
		if len(id) == plain || !isDashAt(i) {
			digits = append(digits, id[i]|0x20) // a digit has this bit already
		}
	}
	return T(digits), true
}

// isDashAt says whether a UUID has a dash at i.
func isDashAt(i int) bool { return i == 8 || i == 13 || i == 18 || i == 23 }

// String is the id as 32 lower-case hex digits.
func (id EventID) String() string { return hex.EncodeToString(id[:]) }

// Event is one sighting of an error, as it stands on the log: normalised, scrubbed
// and signed. The projector reads no clock and no configuration, so the event
// holds all that the projection needs.
type Event struct {
	ID        EventID
	Project   uint64
	Book      Book
	Signature Signature
	Level     Level

	// Time is when it happened: the client's time if that is plausible, else
	// Received. Both are UTC with millisecond resolution.
	Time time.Time
	// Received is when ingest received it.
	Received time.Time

	File    string // relative to the install root
	Line    uint32
	Message string // message_preview: first line, at most 200 runes
	Class   string // exception class
	URI     string // path and filtered query
	Method  string
	UserID  int64
	IP      netip.Addr // the zero Addr when unknown

	// Mute and Noise are what the noise rules of the project decided when the event
	// came: a record that begins with it is muted, or hidden by hide_noise.
	Mute, Noise bool

	// Environment and Release say where it happened, "" when unknown.
	Environment, Release string

	// Trail is what its occurrence shows.
	Trail Trail

	// ScrubVersion is the version of the scrubbing rules.
	ScrubVersion uint32
	// Payload is the context as one JSON object.
	Payload []byte
}

// Position is the place of an event in the log: the stream sequence of its block
// and its index in the block. It grows along the log, is unique for each event,
// and stays below 2^53, the limit of exact JSON numbers.
type Position uint64

// MaxBlockEvents is how many events a block may hold at most. With 13 bits for
// the index there is room for 2^40 blocks.
const MaxBlockEvents = 1 << positionIndexBits

const positionIndexBits = 13

// PositionOf is the position of the event with the index in the block at stream
// sequence seq.
func PositionOf(seq uint64, index int) Position {
	return Position(seq<<positionIndexBits | uint64(index))
}

// Sequence is the stream sequence of the event's block.
func (p Position) Sequence() uint64 { return uint64(p) >> positionIndexBits }

// Index is the index of the event in its block.
func (p Position) Index() int { return int(p & (MaxBlockEvents - 1)) }
