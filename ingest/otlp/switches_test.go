package otlp_test

import (
	"net/http"
	"testing"
)

// TestSwitchedOff: the answer is full success, so that no exporter logs an error,
// and a header says that nothing was kept.
func TestSwitchedOff(t *testing.T) {
	h, recorder := newHandler(t)
	for _, c := range []struct {
		name, contentType string
		body              []byte
		off               bool
		want, recorded    string
	}{
		{"JSON", jsonText, []byte(oneLog), true, "{}", "0"},
		{"protobuf", protobuf, recorded(t, "otel-go-logs.pb"), true, "", "0"},
		{"nothing to drop", jsonText, []byte(`{}`), true, "{}", ""},
		{"on again", jsonText, []byte(oneLog), false, "{}", ""},
	} {
		recorder.Off = c.off
		before := recorder.Count()
		w := post(h, "/v1/logs", c.contentType, c.body)
		if w.Code != http.StatusOK || w.Body.String() != c.want || w.Header().Get("X-Errata-Recorded") != c.recorded {
			t.Errorf("%s: %d %q %v, want 200 %q, recorded %q", c.name, w.Code, w.Body, w.Header(), c.want, c.recorded)
		}
		if kept := recorder.Count() > before; kept == c.off {
			t.Errorf("%s: kept %v", c.name, kept)
		}
	}
}
