package doortest

import (
	"encoding/json"
	"slices"
	"strings"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/scrub"
)

// T is the part of a test that LongMessage needs.
type T interface {
	Helper()
	Fatal(args ...any)
	Errorf(format string, args ...any)
}

// LongMessage checks that a receiver keeps a message whole up to the limit, and that
// the payload says when it was cut. read gives the draft of an event with the message.
// A message has several lines, unless lines is false.
func LongMessage(t T, lines bool, read func(message string) ingest.Draft) {
	t.Helper()
	LongPayload(t, lines, func(message string) []byte {
		d := read(message)
		e, refused := new(ingest.Rules).Event(&d, ingest.Source{Project: Project}, errata.EventID{1})
		if refused != nil {
			t.Fatal(refused)
		}
		return e.Payload
	})
}

// LongPayload is LongMessage for the payload of an event on the log.
func LongPayload(t T, lines bool, send func(message string) (payload []byte)) {
	t.Helper()
	line := "row of the dumps\n"
	if !lines {
		line = "row of the dump, "
	}
	dump := strings.Repeat(line, ingest.MaxMessage/len(line)+200)
	for name, message := range map[string]string{"as long as allowed": dump[:ingest.MaxMessage], "a byte too long": dump[:ingest.MaxMessage] + "!", "far too long": dump} {
		var kept struct {
			Message   string
			Truncated []string
		}
		if err := json.Unmarshal(send(message), &kept); err != nil {
			t.Fatal(err)
		}
		if len(message) == ingest.MaxMessage {
			if kept.Message != message || kept.Truncated != nil {
				t.Errorf("%s: %d of %d bytes were kept, truncated %v", name, len(kept.Message), len(message), kept.Truncated)
			}
			continue
		}
		beginning, marked := strings.CutSuffix(kept.Message, scrub.Mark)
		if !marked || !strings.HasPrefix(message, beginning) || len(beginning) < ingest.MaxMessage-len(line)-len(scrub.Mark) ||
			len(kept.Message) > ingest.MaxMessage || !slices.Contains(kept.Truncated, "message") {
			t.Errorf("%s: %d of %d bytes were kept, truncated %v", name, len(kept.Message), len(message), kept.Truncated)
		}
	}
}
