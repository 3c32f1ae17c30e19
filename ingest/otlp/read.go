package otlp

import (
	"io"
	"net/http"

	"github.com/errata-log/errata/ingest/door"
)

// announced is how large the opened body will be: what the request says of one
// that is sent as it is, and the most that there can be of any other.
func announced(r *http.Request) int {
	if coding := r.Header.Get("Content-Encoding"); (coding == "" || coding == "identity") && r.ContentLength >= 0 {
		return int(min(r.ContentLength, maxOpen))
	}
	return maxOpen
}

// readWhole reads the body to its end. Once a quarter is there, the buffer grows
// to the whole at once: doubling it up to 32 MiB would hold three times as much.
// Before that nothing is believed, so that nobody holds much by announcing it.
func readWhole(b *door.Body, buf *door.Buffer, size int) error {
	whole := size + 1 // room to see the end
	for {
		if length := len(buf.B); length == cap(buf.B) {
			more := 1
			if length >= whole/4 {
				more = max(1, whole-length)
			}
			if err := b.Grow(buf, more); err != nil {
				return err
			}
		}
		n, err := b.Read(buf.B[len(buf.B):cap(buf.B)])
		buf.B = buf.B[:len(buf.B)+n]
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
