package legacy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/errata-log/errata/eventlog"
)

func discardBlock(context.Context, block) error { return nil }

// repeated reads a text n times.
type repeated struct {
	text []byte
	n    int
	rest bytes.Reader
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.rest.Len() == 0 {
		if r.n == 0 {
			return 0, io.EOF
		}
		r.n--
		r.rest.Reset(r.text)
	}
	return r.rest.Read(p)
}

// TestStreamEnds: stream returns every kind of error, and no goroutine is left.
func TestStreamEnds(t *testing.T) {
	reading, putting := errors.New("disk is gone"), errors.New("log is gone")
	broken := io.MultiReader(bytes.NewReader(phpLines(5000)), &failing{reading})
	if err := stream(t.Context(), broken, eventlog.ImportMark{}, converterAt(received), discardBlock); !errors.Is(err, reading) {
		t.Errorf("a file that cannot be read: %v", err)
	}
	if err := stream(t.Context(), &repeated{text: phpLines(1000), n: 50}, eventlog.ImportMark{}, converterAt(received), func(context.Context, block) error {
		return putting
	}); !errors.Is(err, putting) {
		t.Errorf("a log that does not take blocks: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := stream(ctx, &repeated{text: phpLines(1000), n: 50}, eventlog.ImportMark{}, converterAt(received), discardBlock); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that is gone: %v", err)
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }
