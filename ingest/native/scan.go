package native

import (
	"bytes"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
)

// scan finds the structure of JSON without reading its values: where it ends,
// how deep it is, how many values it has. What it passes is not yet valid.
type scan struct {
	depth, deepest int
	values         int
	inString       bool
	escaped        bool
}

// run scans text up to the end of the value that it began with, and returns
// how many bytes belong to that value. done is false when it goes on.
func (s *scan) run(text []byte) (n int, done bool) {
	for i := 0; i < len(text); i++ {
		if s.inString {
			i += s.string(text[i:])
			if s.inString {
				break
			}
			if s.depth == 0 {
				return i + 1, true
			}
			continue
		}
		switch text[i] {
		case '"':
			s.inString = true
		case '{', '[':
			s.depth++
			s.values++
			s.deepest = max(s.deepest, s.depth)
		case '}', ']':
			if s.depth == 0 {
				return i, true // the end of what the value stands in
			}
			if s.depth--; s.depth == 0 {
				return i + 1, true
			}
		case ',':
			if s.depth == 0 {
				return i, true
			}
			s.values++
		}
	}
	return len(text), false
}

// string scans the inside of a string and returns how many bytes stand before
// its end.
func (s *scan) string(text []byte) int {
	for i := range text {
		if s.escaped {
			s.escaped = false
			continue
		}
		switch text[i] {
		case '\\':
			s.escaped = true
		case '"':
			s.inString = false
			return i
		}
	}
	return len(text)
}

// checkShape refuses a document that is too deep or too wide, before anything
// is built of it. Counting bytes is many times faster than looking at the
// structure and enough for almost all events.
func checkShape(document []byte) error {
	containers := bytes.Count(document, []byte("{")) + bytes.Count(document, []byte("["))
	if containers <= ingest.MaxDepth && containers+bytes.Count(document, []byte(",")) <= ingest.MaxValues {
		return nil
	}
	var s scan
	s.run(bytes.TrimLeft(document, " \t\r\n"))
	if s.deepest > ingest.MaxDepth {
		return errata.Errorf(errata.KindInvalidEvent, "the event is nested deeper than %d levels", ingest.MaxDepth)
	}
	if s.values > ingest.MaxValues {
		return errata.Errorf(errata.KindInvalidEvent, "the event has more than %d values", ingest.MaxValues)
	}
	return nil
}

// value reads the value that comes next into the buffer. over says that it was
// too large and was read past. The error is io.EOF when it has no end.
func (t *batch) value() (over bool, err error) {
	t.buf.B = t.buf.B[:0]
	var s scan
	for {
		if _, err := t.in.Peek(1); err != nil {
			return over, err
		}
		window, _ := t.in.Peek(t.in.Buffered())
		n, done := s.run(window)
		if over = over || len(t.buf.B)+n > ingest.MaxEvent; !over {
			if err := t.body.Grow(t.buf, n); err != nil {
				return over, err
			}
			t.buf.B = append(t.buf.B, window[:n]...)
		}
		_, _ = t.in.Discard(n)
		if done {
			return over, nil
		}
	}
}

// depthAtEnd is how many brackets are open at the end of the text.
func depthAtEnd(text []byte) int {
	var s scan
	if _, done := s.run(text); done {
		return 0
	}
	return s.depth
}
