package sentry_test

import (
	"net/http"
	"testing"
)

// TestSwitchedOff: the answer is that of a taken event, and asks SDKs to pause. A
// request without errors gets its normal answer.
func TestSwitchedOff(t *testing.T) {
	h, recorder := newHandler(t)
	const id = "6dc715abb89b4f6694ff46ae15f7dfb8"
	for _, c := range []struct {
		name, body       string
		off              bool
		want             string
		recorded, limits string
	}{
		{"on", envelope, false, `{"id":"` + id + `"}`, "", ""},
		{"off", envelope, true, `{"id":"` + id + `"}`, "0", "60:error;default;log_item:project:disabled"},
		{"off, sessions only", "{}\n{\"type\":\"sessions\"}\n{\"any\":1}", true, "{}", "", ""},
		{"on again", envelope, false, `{"id":"` + id + `"}`, "", ""},
	} {
		recorder.Off = c.off
		w := post(h, envelopeURL, c.body)
		if w.Code != http.StatusOK || w.Body.String() != c.want {
			t.Errorf("%s: %d %s, want 200 %s", c.name, w.Code, w.Body, c.want)
		}
		if r, l := w.Header().Get("X-Errata-Recorded"), w.Header().Get("X-Sentry-Rate-Limits"); r != c.recorded || l != c.limits {
			t.Errorf("%s: recorded %q, limits %q, want %q, %q", c.name, r, l, c.recorded, c.limits)
		}
		if w.Header().Get("Retry-After") != "" {
			t.Errorf("%s: Retry-After would silence all of the SDK", c.name)
		}
	}
	if recorder.Count() != 2 {
		t.Errorf("%d recorded, want 2", recorder.Count())
	}
}
