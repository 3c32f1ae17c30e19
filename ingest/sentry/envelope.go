package sentry

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"

	"github.com/go-faster/jx"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/lenient"
)

// item is the header of an envelope's item.
type item struct {
	kind   string
	length int64 // -1: up to the end of the line
}

// header reads the first line of an envelope.
func (in *intake) header() error {
	line, err := in.line("the envelope header")
	if err == io.EOF {
		return malformed("the body is empty", nil)
	}
	if err != nil {
		return err
	}
	return in.readHeader(line, "the envelope header is not a JSON object", in.headerField)
}

// items reads the items one after the other.
func (in *intake) items() error {
	for count := 0; ; {
		line, err := in.line("an item header")
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if count++; count > ingest.MaxEnvelopeItems {
			return errata.Errorf(errata.KindBodyTooLarge, "the envelope has more than %d items", ingest.MaxEnvelopeItems)
		}
		it := item{length: -1}
		if err := in.readHeader(line, "an item header is not a JSON object", it.field); err != nil {
			return err
		}
		if err := in.item(it); err != nil {
			return err
		}
	}
}

// keptItems are the types of items that are read: their name in messages, the
// largest payload in bytes, and what reads it.
var keptItems = map[string]struct {
	name string
	max  int
	read func(in *intake, payload []byte) error
}{
	"event":         {"the event", ingest.MaxEvent, (*intake).addEvent},
	"log":           {"the log item", ingest.MaxLogItem, (*intake).addLogs},
	"client_report": {"the client report", ingest.MaxClientReport, (*intake).addReport},
}

// item reads or skips one payload.
func (in *intake) item(it item) error {
	kind, kept := keptItems[it.kind]
	if !kept {
		return in.skip(it)
	}
	payload, err := in.payload(it, kind.name, kind.max)
	if err != nil {
		return err
	}
	return kind.read(in, payload)
}

func (it *item) field(d *lenient.Reader, key []byte) (err error) {
	switch string(key) {
	case "type":
		text, err := d.Bytes()
		switch string(text) { // keptItems; the others need no name
		case "event":
			it.kind = "event"
		case "log":
			it.kind = "log"
		case "client_report":
			it.kind = "client_report"
		default:
			it.kind = ""
		}
		return err
	case "length":
		text, err := d.Bytes()
		it.length = lengthOf(text)
		return err
	default:
		return d.Skip()
	}
}

// lengthOf reads a length. It may be a string, and 5.0 is 5. Without a number the
// item ends with its line (-1). A number that cannot be a length becomes one that
// no body has.
func lengthOf(text []byte) int64 {
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return n
	}
	n, err := strconv.ParseFloat(string(text), 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return -1
	case n != math.Trunc(n) || math.Abs(n) > 1<<53:
		return math.MaxInt64
	default:
		return int64(n)
	}
}

// readHeader reads a header line: one JSON object.
func (in *intake) readHeader(line []byte, complaint string, field func(d *lenient.Reader, key []byte) error) error {
	d := &in.head
	d.Reset(line)
	if d.Next() != jx.Object {
		return malformed(complaint, nil)
	}
	if err := lenient.Object(d, d, field); err != nil {
		return malformed(complaint, err)
	}
	if !d.AtEnd() {
		return malformed(complaint, nil)
	}
	return nil
}

// line reads a header line without its line break. The line is valid until the
// next read. The error is io.EOF at the end of the body.
func (in *intake) line(what string) ([]byte, error) {
	line, err := in.in.ReadSlice('\n')
	switch {
	case err == nil:
		line = line[:len(line)-1]
	case err == bufio.ErrBufferFull:
		return nil, door.PartTooLarge(what, ingest.MaxEnvelopeHeader)
	case err != io.EOF:
		return nil, err
	case len(line) == 0:
		return nil, io.EOF
	}
	if len(line) > ingest.MaxEnvelopeHeader {
		return nil, door.PartTooLarge(what, ingest.MaxEnvelopeHeader)
	}
	return line, nil
}

// payload reads an item into the buffer. It is valid until the next item.
func (in *intake) payload(it item, what string, limit int) ([]byte, error) {
	in.buf.B = in.buf.B[:0]
	if it.length < 0 {
		return in.payloadLine(what, limit)
	}
	if it.length > int64(limit) {
		return nil, door.PartTooLarge(what, limit)
	}
	length := int(it.length)
	if err := in.body.Grow(in.buf, length); err != nil {
		return nil, err
	}
	in.buf.B = in.buf.B[:length]
	if _, err := io.ReadFull(in.in, in.buf.B); err != nil {
		return nil, cut(err)
	}
	return in.buf.B, in.itemEnd()
}

// payloadLine reads an item without a length: the rest of the line.
func (in *intake) payloadLine(what string, limit int) ([]byte, error) {
	for {
		part, err := in.in.ReadSlice('\n')
		if len(in.buf.B)+len(part) > limit+1 {
			return nil, door.PartTooLarge(what, limit)
		}
		if err := in.body.Grow(in.buf, len(part)); err != nil {
			return nil, err
		}
		in.buf.B = append(in.buf.B, part...)
		switch err {
		case nil:
			return in.buf.B[:len(in.buf.B)-1], nil
		case io.EOF:
			return in.buf.B, nil
		case bufio.ErrBufferFull:
		default:
			return nil, err
		}
	}
}

// skip reads past an item without keeping it.
func (in *intake) skip(it item) error {
	for it.length < 0 {
		switch _, err := in.in.ReadSlice('\n'); err {
		case bufio.ErrBufferFull:
		case nil, io.EOF:
			return nil
		default:
			return err
		}
	}
	for left := it.length; left > 0; {
		n, err := in.in.Discard(int(min(left, 1<<20)))
		left -= int64(n)
		if err != nil && left > 0 {
			return cut(err)
		}
	}
	return in.itemEnd()
}

// itemEnd reads the line break, or the end of the body, after a payload of known
// length.
func (in *intake) itemEnd() error {
	c, err := in.in.ReadByte()
	if err == io.EOF {
		return nil
	}
	if err == nil && c != '\n' {
		return malformed("an item is longer than its length", nil)
	}
	return err
}

// cut explains an error within an item: the end of the body, or a failed read.
func cut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return malformed("an item is shorter than its length", nil)
	}
	return err
}
