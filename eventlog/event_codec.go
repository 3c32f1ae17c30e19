package eventlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"time"

	errata "github.com/errata-log/errata"
)

// An encoded event is
//
//	uvarint  length of what follows
//	byte     book in the low four bits, then two that are 0, mute and noise
//	byte     level
//	16 bytes signature
//	int64    time, Unix milliseconds, big endian
//	int64    received, likewise
//	uvarint  project
//	uvarint  line
//	varint   user id
//	uvarint  scrub version
//	byte     length of the address: 0, 4 or 16, then the address
//	6 texts  file, message, class, uri, method, payload: uvarint length, bytes
//	2 texts  environment, release; older versions wrote neither
//	section  trail, with its length in front; older versions wrote none
//	bytes    of newer versions, which are ignored
//
// The fields that the fold reads come first, at fixed offsets, so that it need not
// decode the rest of an event whose record exists. The id is not among them: all
// ids are at the front of the block.
//
// Mute and noise are what noise rules decided. Versions without noise rules take an
// event with one of them for a corrupt one; all other events are as they know them.
const eventHead = 1 + 1 + errata.SignatureSize + 8 + 8

const (
	markMute  = 1 << 6
	markNoise = 1 << 7
)

// MaxEventSize bounds one encoded event in bytes. A payload of 64 KiB and all other
// fields at their limits need much less.
const MaxEventSize = 256 << 10

// ErrCorrupt is wrapped by every error about bytes that are not a valid block.
var ErrCorrupt = errors.New("corrupt block")

// ErrEventTooLarge is returned for an event over MaxEventSize.
var ErrEventTooLarge = errors.New("event exceeds the size limit of the log")

// appendEvent appends the encoding of e, without its id, to dst. The error is
// ErrEventTooLarge.
func appendEvent(dst []byte, e *errata.Event) ([]byte, error) {
	ip := e.IP.Unmap()
	if sizeOf(e) > MaxEventSize {
		return dst, ErrEventTooLarge
	}
	// The length is written last. It always takes three bytes: MaxEventSize fits
	// into 21 bits.
	start := len(dst)
	dst = append(dst, 0, 0, 0, bookByte(e), byte(e.Level))
	dst = append(dst, e.Signature[:]...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(e.Time.UnixMilli()))
	dst = binary.BigEndian.AppendUint64(dst, uint64(e.Received.UnixMilli()))
	dst = binary.AppendUvarint(dst, e.Project)
	dst = binary.AppendUvarint(dst, uint64(e.Line))
	dst = binary.AppendVarint(dst, e.UserID)
	dst = binary.AppendUvarint(dst, uint64(e.ScrubVersion))
	switch {
	case !ip.IsValid():
		dst = append(dst, 0)
	case ip.Is4():
		a := ip.As4()
		dst = append(append(dst, 4), a[:]...)
	default:
		a := ip.As16()
		dst = append(append(dst, 16), a[:]...)
	}
	for _, text := range [...]string{e.File, e.Message, e.Class, e.URI, e.Method} {
		dst = appendText(dst, text)
	}
	dst = appendText(dst, e.Payload)
	// Empty texts and an empty trail too: without them the fold would look into the
	// payload.
	dst = appendText(appendText(dst, e.Environment), e.Release)
	dst = appendTrail(dst, &e.Trail)
	putLength(dst[start:], len(dst)-start-lengthSize)
	return dst, nil
}

// sizeOf is at least the size of the encoded event without its length.
func sizeOf(e *errata.Event) int {
	return eventHead + 4*binary.MaxVarintLen64 + 1 + 16 + 8*binary.MaxVarintLen32 +
		len(e.File) + len(e.Message) + len(e.Class) + len(e.URI) + len(e.Method) + len(e.Payload) + len(e.Environment) + len(e.Release) + trailSize(&e.Trail)
}

// bookByte is the book with the marks of the event.
func bookByte(e *errata.Event) byte {
	b := byte(e.Book)
	if e.Mute {
		b |= markMute
	}
	if e.Noise {
		b |= markNoise
	}
	return b
}

const lengthSize = 3

// putLength writes n as a uvarint padded to three bytes.
func putLength(dst []byte, n int) {
	dst[0] = byte(n) | 0x80
	dst[1] = byte(n>>7) | 0x80
	dst[2] = byte(n >> 14)
}

// Entry is one event of a block with the fields that the fold needs; [Entry.Event]
// decodes the rest. It shares memory with the block.
type Entry struct {
	ID        errata.EventID
	Book      errata.Book
	Level     errata.Level
	Signature errata.Signature
	Time      int64 // Unix milliseconds
	Received  int64 // Unix milliseconds
	body      []byte
}

// parseEntry reads one event from the front of raw and returns the bytes after it.
func parseEntry(id errata.EventID, raw []byte) (Entry, []byte, error) {
	n, w := binary.Uvarint(raw)
	if w <= 0 || n < eventHead || n > MaxEventSize || uint64(len(raw)-w) < n {
		return Entry{}, nil, fmt.Errorf("%w: length of an event", ErrCorrupt)
	}
	body := raw[w : w+int(n)]
	e := Entry{ID: id, Book: errata.Book(body[0] &^ (markMute | markNoise)), Level: errata.Level(body[1]), body: body}
	copy(e.Signature[:], body[2:])
	e.Time = int64(binary.BigEndian.Uint64(body[2+errata.SignatureSize:]))
	e.Received = int64(binary.BigEndian.Uint64(body[10+errata.SignatureSize:]))
	if e.Book != errata.BookSystem && e.Book != errata.BookDatabase {
		return Entry{}, nil, fmt.Errorf("%w: book %d", ErrCorrupt, e.Book)
	}
	if e.Level > errata.LevelFatal {
		return Entry{}, nil, fmt.Errorf("%w: level %d", ErrCorrupt, e.Level)
	}
	return e, raw[w+int(n):], nil
}

// Clone returns the entry with a copy of its bytes, so that it outlives the block.
func (e Entry) Clone() Entry {
	e.body = append([]byte(nil), e.body...)
	return e
}

// Bare returns the entry without its bytes: what the fold reads of an event whose record
// exists. It shares no memory with the block, and nothing more can be decoded of it.
func (e Entry) Bare() Entry {
	e.body = nil
	return e
}

// Size is the number of bytes that a clone of the entry holds, 0 for a bare one.
func (e Entry) Size() int { return len(e.body) }

// Event decodes the whole event. Its texts and payload are copies.
func (e Entry) Event() (errata.Event, error) {
	var o Origin
	ev, err := e.decode(&o, nil)
	if err != nil {
		return errata.Event{}, err
	}
	ev.Payload = append([]byte(nil), ev.Payload...)
	ev.Environment, ev.Release, ev.Trail = string(o.Environment), string(o.Release), o.Trail()
	return ev, nil
}

// Sighting decodes what a record shows of its first event: all but environment, release
// and trail. The payload shares memory with the entry. A text that is in met is not copied again.
func (e Entry) Sighting(met *Texts) (errata.Event, error) {
	var o Origin
	return e.decode(&o, met)
}

// decode decodes the event and its origin. The payload and the origin share memory with
// the entry. A text that is in met is not copied again.
func (e Entry) decode(o *Origin, met *Texts) (errata.Event, error) {
	if len(e.body) < eventHead {
		return errata.Event{}, fmt.Errorf("%w: fields of an event", ErrCorrupt)
	}
	d := fields{rest: e.body[eventHead:]}
	ev := errata.Event{
		ID: e.ID, Book: e.Book, Level: e.Level, Signature: e.Signature,
		Mute: e.body[0]&markMute != 0, Noise: e.body[0]&markNoise != 0,
		Time: time.UnixMilli(e.Time).UTC(), Received: time.UnixMilli(e.Received).UTC(),
		Project: d.uvarint(math.MaxUint64),
		Line:    uint32(d.uvarint(math.MaxUint32)),
		UserID:  d.varint(), ScrubVersion: uint32(d.uvarint(math.MaxUint32)),
		IP: d.address(),
	}
	for _, text := range [...]*string{&ev.File, &ev.Message, &ev.Class, &ev.URI, &ev.Method} {
		*text = textOf(met, d.bytes())
	}
	ev.Payload = d.bytes()
	s := skipper(d)
	s.behind(o, ev.Payload, ev.UserID)
	if s.failed {
		return errata.Event{}, fmt.Errorf("%w: fields of an event", ErrCorrupt)
	}
	return ev, nil
}

// fields reads the fields of an event one after another. When one cannot be read,
// failed is set and all further fields are empty.
type fields struct {
	rest   []byte
	failed bool
}

func (d *fields) take(n int) []byte {
	if d.failed || n < 0 || n > len(d.rest) {
		d.failed = true
		return nil
	}
	taken := d.rest[:n]
	d.rest = d.rest[n:]
	return taken
}

func (d *fields) uvarint(limit uint64) uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 || v > limit {
		d.failed = true
		return 0
	}
	d.take(n)
	return v
}

func (d *fields) varint() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.failed = true
		return 0
	}
	d.take(n)
	return v
}

func (d *fields) address() netip.Addr {
	length := d.take(1)
	if d.failed || length[0] == 0 {
		return netip.Addr{}
	}
	addr, ok := netip.AddrFromSlice(d.take(int(length[0])))
	if !ok {
		d.failed = true
	}
	return addr
}

func (d *fields) bytes() []byte { return d.take(int(d.uvarint(MaxEventSize))) }
