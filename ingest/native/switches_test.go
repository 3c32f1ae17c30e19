package native_test

import (
	"net/http"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest/native"
)

// TestAnswersSayWhatWasRecorded: every 2xx does, with all switches.
func TestAnswersSayWhatWasRecorded(t *testing.T) {
	var switches errata.Logging
	h, recorder := newHandler(t, func(cfg *native.Config) { cfg.Switches = func() errata.Logging { return switches } })
	const three = `[{"message":"a"},{"message":"b"},{"level":7}]`
	for _, c := range []struct {
		name, body, token     string
		off, development      bool
		status                int
		recorded, inDeveloper string
	}{
		{"on", three, "", false, false, 202, "2", ""},
		{"off", three, "", true, false, 202, "0", ""},
		{"off, one", `{"message":"a"}`, "", true, true, 202, "0", "1"},
		{"development", three, "", false, true, 202, "2", "1"},
		{"off, nothing good", `{"level":7}`, "", true, true, 422, "", "1"},
		{"a stranger", three, "nope", true, true, 401, "", ""},
	} {
		recorder.Off, switches.Development = c.off, c.development
		var header []string
		if c.token != "" {
			header = []string{"Authorization", "Bearer " + c.token}
		}
		before := recorder.Count()
		w := post(h, c.body, header...)
		if w.Code != c.status || w.Header().Get("X-Errata-Recorded") != c.recorded || w.Header().Get("X-Errata-Development") != c.inDeveloper {
			t.Errorf("%s: %d %v, want %d, recorded %q, development %q", c.name, w.Code, w.Header(), c.status, c.recorded, c.inDeveloper)
		}
		want := `{"data":{"accepted":2,"rejected":[{"index":2,`
		if c.status == http.StatusAccepted && c.body == three && (len(w.Body.String()) < len(want) || w.Body.String()[:len(want)] != want) {
			t.Errorf("%s: %s, want %s…: dropped events are accepted", c.name, w.Body, want)
		}
		if c.off && recorder.Count() != before {
			t.Errorf("%s: something was recorded", c.name)
		}
	}
}

// TestAnswersSayWhereTheEventsAre: unless they have no place on the log.
func TestAnswersSayWhereTheEventsAre(t *testing.T) {
	h, recorder := newHandler(t)
	for place, want := range map[uint64]string{0: "", 815: "815"} {
		recorder.Written = place
		w := post(h, `{"message":"a"}`)
		if got := w.Header().Get("X-Errata-Position"); w.Code != http.StatusAccepted || got != want {
			t.Errorf("at %d: %d with position %q, want 202 and %q", place, w.Code, got, want)
		}
	}
}
