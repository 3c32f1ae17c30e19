package otlp_test

import (
	"net/http"
	"testing"

	"github.com/errata-log/errata/ingest"
)

// paths are chosen by a byte of the fuzzer.
var paths = []string{"/v1/logs", "/v1/traces", "/v1/metrics"}

// checkAnswer sends the fuzzer's bytes. It wants full or partial success, or a 4xx
// with a status message; bounded drafts; and the same ids for the same bytes.
func checkAnswer(t *testing.T, which uint8, contentType string, content []byte) {
	h, recorder := newHandler(t)
	path := paths[int(which)%len(paths)]
	w := post(h, path, contentType, content)
	if got := w.Header().Get("Content-Type"); got != contentType {
		t.Errorf("answered as %s", got)
	}
	if w.Code != http.StatusOK {
		if code, message := status(t, w); w.Code < 400 || w.Code > 499 || code == 0 || message == "" || len(message) > 300 || recorder.Count() > 0 {
			t.Errorf("%d %q, %d taken", w.Code, w.Body, recorder.Count())
		}
		return
	}
	first := recorder.Take()
	seen := map[string]bool{}
	for _, d := range first {
		if seen[d.ClientID] || len(d.ClientID) != 2+32 || len(d.Message) > 2*ingest.MaxMessage || len(d.Context.Tags) > ingest.MaxTags {
			t.Errorf("a draft with id %q, a message of %d bytes, %d tags", d.ClientID, len(d.Message), len(d.Context.Tags))
		}
		seen[d.ClientID] = true
	}
	if w := post(h, path, contentType, content); w.Code != http.StatusOK {
		t.Errorf("the same again: %d %q", w.Code, w.Body)
	}
	for i, d := range recorder.Take() {
		if i >= len(first) || d.ClientID != first[i].ClientID {
			t.Errorf("draft %d has another id when sent again", i)
		}
	}
}

func FuzzProtobuf(f *testing.F) {
	f.Add(uint8(0), recorded(f, "otel-go-logs.pb"))
	f.Add(uint8(1), recorded(f, "otel-go-traces.pb"))
	f.Add(uint8(0), deep(70))
	f.Fuzz(func(t *testing.T, which uint8, content []byte) { checkAnswer(t, which, protobuf, content) })
}

func FuzzJSON(f *testing.F) {
	f.Add(uint8(0), recorded(f, "otel-go-logs.json"))
	f.Add(uint8(1), recorded(f, "otel-go-traces.json"))
	f.Fuzz(func(t *testing.T, which uint8, content []byte) { checkAnswer(t, which, jsonText, content) })
}
