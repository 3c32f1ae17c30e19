package legacy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/projects"
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

// TestNoiseRulesHoldForFiles: an event of a file is marked, or dropped and counted; the
// mark behind it moves on.
func TestNoiseRulesHoldForFiles(t *testing.T) {
	dropped := 0
	c := converterAt(received)
	c.noise = &ingest.Noise{
		Rules: func(uint64) []projects.Rule {
			return []projects.Rule{{Field: "message", Match: "drop", Action: "drop"}, {Field: "message", Match: "mute", Action: "mute"}}
		},
		Dropped: func(_ uint64, events int) { dropped += events },
	}
	text := "{\"message\":\"mute this\"}\n{\"message\":\"keep this\"}\n{\"message\":\"drop this\"}\n"
	var got []string
	var last eventlog.ImportMark
	err := stream(t.Context(), strings.NewReader(text), eventlog.ImportMark{}, c, func(_ context.Context, b block) error {
		last = b.mark
		decoded, err := eventlog.DecodeBlock(b.data, nil)
		if err != nil {
			return err
		}
		decoded.Entries(func(_ int, entry eventlog.Entry) {
			e, err := entry.Event()
			got = append(got, fmt.Sprint(e.Message, " ", e.Mute, " ", err))
		})
		return nil
	})
	if err != nil || strings.Join(got, "|") != "mute this true <nil>|keep this false <nil>" || dropped != 1 {
		t.Errorf("%v, %q, %d dropped", err, got, dropped)
	}
	if last.Offset != int64(len(text)) || last.Events != 2 || last.Unreadable != 0 || !last.Done {
		t.Errorf("the mark: %+v", last)
	}
}
