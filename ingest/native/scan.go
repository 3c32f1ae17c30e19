package native

import (
	"bytes"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/lenient"
)

// checkShape refuses a document that is too deep or too wide, before a parser
// reads it. Counting bytes is much faster than looking at the structure, and
// enough for almost all events.
func checkShape(document []byte) error {
	containers := bytes.Count(document, []byte("{")) + bytes.Count(document, []byte("["))
	if containers <= ingest.MaxDepth && containers+bytes.Count(document, []byte(",")) <= ingest.MaxValues {
		return nil
	}
	var s lenient.Scan
	s.Run(bytes.TrimLeft(document, " \t\r\n"))
	if s.Deepest > ingest.MaxDepth {
		return errata.Errorf(errata.KindInvalidEvent, "the event is nested deeper than %d levels", ingest.MaxDepth)
	}
	if s.Values > ingest.MaxValues {
		return errata.Errorf(errata.KindInvalidEvent, "the event has more than %d values", ingest.MaxValues)
	}
	return nil
}

// value reads the next value into the buffer. over says that the value is too
// large; value reads past it. The error is io.EOF when the value has no end.
func (t *batch) value() (over bool, err error) {
	t.buf.B = t.buf.B[:0]
	var s lenient.Scan
	for {
		if _, err := t.in.Peek(1); err != nil {
			return over, err
		}
		window, _ := t.in.Peek(t.in.Buffered())
		n, done := s.Run(window)
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
	var s lenient.Scan
	if _, done := s.Run(text); done {
		return 0
	}
	return s.Depth
}
