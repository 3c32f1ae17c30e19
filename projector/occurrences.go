package projector

import (
	"encoding/binary"
	"encoding/hex"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

const (
	// occurrenceBytes is what an occurrence takes in the memory of a batch beside its
	// texts.
	occurrenceBytes = 80
	// occurrencesTogether is how many are in one piece of memory, textsTogether how
	// many bytes of their texts: the memory grows without a copy of what it has.
	occurrencesTogether, textsTogether = 512, 1 << 16
)

// occurrence is one counted event of a batch. It holds no pointer, so that a million of
// them cost the garbage collector nothing.
type occurrence struct {
	position       errata.Position
	time, received int64    // Unix milliseconds
	eventID        [16]byte // the client's UUID, else the id under which the event counts
	userHash       uint64
	part           uint32 // the delta that counts it
	texts          uint32 // where its texts are
	level          errata.Level

	environment, release, server, transaction uint32 // numbers of names
}

// occurrences are those of a batch, in log order.
type occurrences struct {
	// rows are those that the table does not hold yet, count is how many. held come
	// before them: rules of alerts look at them once more after a crash.
	count      int
	rows, held [][]occurrence
	// texts are the other texts of the rows, each with its length in front: the id of
	// the client that is no UUID, the user, the id of the trace, and the tags, with
	// their number in front. The texts at 0 are empty.
	texts []*strings.Builder
	names names
	// parts are all deltas of the batch.
	parts []*delta
}

// bytes is the memory that they take.
func (o *occurrences) bytes() int {
	return o.count*occurrenceBytes + len(o.held)*occurrencesTogether*occurrenceBytes + len(o.texts)*textsTogether + o.names.bytes
}

// join gives a delta its number among the parts of the batch.
func (o *occurrences) join(d *delta) {
	d.part = uint32(len(o.parts))
	o.parts = append(o.parts, d)
}

// add adds an event of the delta.
func (o *occurrences) add(d *delta, e eventlog.Entry, at errata.Position, origin *eventlog.Origin) {
	row := o.row(d, e, at, origin)
	client := origin.ClientID
	if id, ok := sixteen(client); ok {
		row.eventID, client = id, nil
	}
	row.texts = o.keep(client, origin)
	o.rows = withRow(o.rows, row)
	o.count++
}

// addHeld adds an event that the table holds already.
func (o *occurrences) addHeld(d *delta, e eventlog.Entry, at errata.Position, origin *eventlog.Origin) {
	o.held = withRow(o.held, o.row(d, e, at, origin))
}

// row is the row of an event without its texts.
func (o *occurrences) row(d *delta, e eventlog.Entry, at errata.Position, origin *eventlog.Origin) occurrence {
	return occurrence{
		position: at, time: e.Time, received: min(max(e.Received, 0), lastHour*millisPerHour), level: e.Level,
		part: d.part, userHash: origin.UserHash, eventID: e.ID,
		environment: o.names.number(environmentName, origin.Environment), release: o.names.number(releaseName, origin.Release),
		server: o.names.number(serverName, origin.Server), transaction: o.names.number(transactionName, origin.Transaction),
	}
}

func withRow(rows [][]occurrence, row occurrence) [][]occurrence {
	last := len(rows) - 1
	if last < 0 || len(rows[last]) == occurrencesTogether {
		rows = append(rows, make([]occurrence, 0, occurrencesTogether))
		last++
	}
	rows[last] = append(rows[last], row)
	return rows
}

// each calls yield with all rows along the log.
func (o *occurrences) each(yield func(rows []occurrence) bool) {
	for _, pieces := range [...][][]occurrence{o.held, o.rows} {
		for _, rows := range pieces {
			if !yield(rows) {
				return
			}
		}
	}
}

// keep copies the texts of an event and returns where they are.
func (o *occurrences) keep(client []byte, origin *eventlog.Origin) uint32 {
	if len(client)+len(origin.User)+len(origin.TraceID)+origin.Tags.Len() == 0 {
		return 0
	}
	size := 4*binary.MaxVarintLen32 + len(client) + len(origin.User) + len(origin.TraceID)
	origin.Tags.Each(func(key, value []byte) { size += binary.MaxVarintLen32 + len(key) + 1 + len(value) })
	last := len(o.texts) - 1
	if last < 0 || o.texts[last].Len()+size > textsTogether {
		b := &strings.Builder{}
		b.Grow(max(size, textsTogether))
		if o.texts, last = append(o.texts, b), last+1; last == 0 {
			b.WriteString("\x00\x00\x00\x00") // the empty texts
		}
	}
	b := o.texts[last]
	place := uint32(last*textsTogether + b.Len())
	trace := origin.TraceID
	if id, ok := sixteen(trace); ok {
		trace = id[:]
	}
	writeText(b, client)
	writeText(b, origin.User)
	writeText(b, trace)
	writeNumber(b, origin.Tags.Len())
	origin.Tags.Each(func(key, value []byte) {
		writeNumber(b, len(key)+1+len(value))
		b.Write(key)
		b.WriteByte('\t')
		b.Write(value)
	})
	return place
}

// sixteen returns the bytes of 32 hex digits; ok is false for any other text.
func sixteen(text []byte) (raw [16]byte, ok bool) {
	if len(text) != 2*len(raw) {
		return raw, false
	}
	_, err := hex.Decode(raw[:], text)
	return raw, err == nil
}

func writeText(b *strings.Builder, text []byte) {
	writeNumber(b, len(text))
	b.Write(text)
}

func writeNumber(b *strings.Builder, n int) {
	for ; n >= 0x80; n >>= 7 {
		b.WriteByte(byte(n) | 0x80)
	}
	b.WriteByte(byte(n))
}

// textReader reads texts that keep has written.
type textReader string

func (r *textReader) number() (n int) {
	for i := 0; ; i++ {
		c := (*r)[i]
		if n |= int(c&0x7f) << (7 * i); c < 0x80 {
			*r = (*r)[i+1:]
			return n
		}
	}
}

func (r *textReader) text() string {
	n := r.number()
	text := string((*r)[:n])
	*r = (*r)[n:]
	return text
}

// textsOf returns the texts of a row.
func (o *occurrences) textsOf(row *occurrence) textReader {
	if len(o.texts) == 0 {
		return "\x00\x00\x00\x00"
	}
	return textReader(o.texts[row.texts/textsTogether].String()[row.texts%textsTogether:])
}
