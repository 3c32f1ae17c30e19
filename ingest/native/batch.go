package native

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
)

// batch reads the events of one request.
type batch struct {
	body *door.Body
	in   *bufio.Reader
	buf  *door.Buffer // the event being read

	count    int // events seen
	drafts   []ingest.Draft
	indexes  []int // of each draft in the request
	rejected []door.Rejection
}

// readSize is the read buffer; most single events fit.
const readSize = 16 << 10

// A free batch keeps the memory of its drafts when there were at most keptDrafts: less than a
// megabyte. Larger requests are rare.
const keptDrafts = 1000

var batches = sync.Pool{New: func() any { return &batch{in: bufio.NewReaderSize(nil, readSize)} }}

func newBatch(b *door.Body) *batch {
	t := batches.Get().(*batch) // the pool holds nothing else
	t.body, t.buf = b, door.GetBuffer()
	t.in.Reset(b)
	return t
}

// free must be the last use of the batch and of its drafts. What drafts point to is their own.
func (t *batch) free() {
	t.in.Reset(nil)
	t.buf.Free()
	clear(t.drafts)
	if cap(t.drafts) > keptDrafts {
		t.drafts, t.indexes = nil, nil
	}
	*t = batch{in: t.in, drafts: t.drafts[:0], indexes: t.indexes[:0]}
	batches.Put(t)
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// read reads the whole body. An error refuses the request; an error of one event
// of several goes to rejected.
func (t *batch) read() error {
	if head, _ := t.in.Peek(len(byteOrderMark)); bytes.Equal(head, byteOrderMark) {
		_, _ = t.in.Discard(len(byteOrderMark))
	}
	switch c, err := t.peek(); {
	case err == io.EOF:
		return door.Malformed("the body is empty; send a JSON object, an array, or objects line by line")
	case err != nil:
		return err
	case c == '[':
		return t.array()
	case c == '{':
		return t.lines()
	default:
		return door.Malformed("the body begins neither with a JSON object nor with an array")
	}
}

// lines reads objects line by line. If the object of the first line goes on in
// the next line, the whole body is one event.
func (t *batch) lines() error {
	over, err := t.line()
	if err != nil && err != io.EOF {
		return err
	}
	if err == nil && !over && depthAtEnd(t.buf.B) != 0 {
		next, err := t.peek()
		if err != nil && err != io.EOF {
			return err
		}
		if next != '{' || continues(t.buf.B) {
			return t.whole()
		}
	}
	for {
		if len(bytes.TrimSpace(t.buf.B)) > 0 || over {
			if refused := t.take(over, false); refused != nil {
				return refused
			}
		}
		if err == io.EOF {
			return nil
		}
		if over, err = t.line(); err != nil && err != io.EOF {
			return err
		}
	}
}

// line reads the next line into the buffer. over says that the line is too long;
// line reads past it. The error is io.EOF with the last line.
func (t *batch) line() (over bool, err error) {
	t.buf.B = t.buf.B[:0]
	for {
		part, err := t.in.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull && err != io.EOF {
			return over, err
		}
		if over = over || len(t.buf.B)+len(part) > ingest.MaxEvent+1; !over {
			if err := t.body.Grow(t.buf, len(part)); err != nil {
				return over, err
			}
			t.buf.B = append(t.buf.B, part...)
		}
		if err != bufio.ErrBufferFull {
			return over, err
		}
	}
}

// continues says whether an object goes on behind the text: one over several
// lines may have a line that begins with a brace.
func continues(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 0 && strings.IndexByte(":,[{", text[len(text)-1]) >= 0
}

// whole reads the rest of the body as one event.
func (t *batch) whole() error {
	for {
		if err := t.body.Grow(t.buf, 1); err != nil {
			return err
		}
		room := t.buf.B[len(t.buf.B):cap(t.buf.B)]
		n, err := t.in.Read(room)
		t.buf.B = t.buf.B[:len(t.buf.B)+n]
		if over := len(t.buf.B) > ingest.MaxEvent; over || err == io.EOF {
			return t.take(over, false)
		}
		if err != nil {
			return err
		}
	}
}

// array reads an array. Broken JSON anywhere refuses the whole request, because
// the beginning of the next event is unknown.
func (t *batch) array() error {
	_, _ = t.in.Discard(1)
	c, err := t.peek()
	for c != ']' && err == nil {
		var over bool
		if over, err = t.value(); err != nil {
			break
		}
		if err = t.take(over, true); err != nil {
			return err
		}
		if c, err = t.peek(); err != nil || c == ']' {
			break
		}
		if c != ',' {
			return door.Malformed("there is no comma between two events of the array")
		}
		_, _ = t.in.Discard(1)
		if c, err = t.peek(); c == ']' {
			return door.Malformed("the array ends with a comma")
		}
	}
	if err == io.EOF {
		return door.Malformed("the array is not complete")
	}
	if err != nil {
		return err
	}
	_, _ = t.in.Discard(1)
	if _, err := t.peek(); err == nil {
		return door.Malformed("there is more after the array")
	} else if err != io.EOF {
		return err
	}
	return nil
}

// take keeps or rejects the event in the buffer. With strict, broken JSON is an
// error of the whole request.
func (t *batch) take(over, strict bool) error {
	index := t.count
	if t.count++; t.count > ingest.MaxBatch {
		return errata.Errorf(errata.KindBodyTooLarge, "the body holds more than %d events; send them in several requests", ingest.MaxBatch)
	}
	var draft ingest.Draft
	var refused error
	if over {
		refused = door.PartTooLarge("the event", ingest.MaxEvent)
	} else if draft, refused = ParseEvent(t.buf.B); refused == nil {
		if err := t.body.Charge(len(t.buf.B)); err != nil {
			return err
		}
		if n := t.likely(); len(t.drafts) == 0 && n > cap(t.drafts) {
			t.drafts, t.indexes = make([]ingest.Draft, 0, n), make([]int, 0, n)
		}
		t.drafts = append(t.drafts, draft)
		t.indexes = append(t.indexes, index)
		return nil
	}
	told, ok := errors.AsType[*errata.Error](refused)
	if !ok {
		return refused
	}
	if strict && told.Kind == errata.KindInvalidBody {
		return errata.Errorf(errata.KindInvalidBody, "event %d of the array: %s; nothing was stored", index, told.Message).Because(told)
	}
	t.rejected = append(t.rejected, door.Rejected(index, told))
	return nil
}

// likely is how many events the body has if all are as long as the first one.
func (t *batch) likely() int {
	return max(1, min(ingest.MaxBatch, int(t.body.Length())/max(1, len(t.buf.B))))
}

// peek is the next byte that is no white space. It does not read the byte.
func (t *batch) peek() (byte, error) {
	for {
		c, err := t.in.ReadByte()
		if err != nil {
			return 0, err
		}
		if c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return c, t.in.UnreadByte()
		}
	}
}
