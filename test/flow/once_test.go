package flow

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Exports of one error as a span event and as a log record, with their trace and
// span.
const (
	onceTrace = `"traceId":"08a022e8b2b020683b308780d70f3cad","spanId":"68624199d6e1f5e3"`
	onceAttrs = `"attributes":[{"key":"exception.type","value":{"stringValue":"OrderError"}},{"key":"exception.message","value":{"stringValue":"%s"}}]`
)

func onceLog(nanos int64, message string) string {
	return fmt.Sprintf(`{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeLogs":[{"logRecords":[`+
		`{"timeUnixNano":"%d","severityNumber":17,"body":{"stringValue":"checkout failed"},%s,%s}]}]}]}`, nanos, onceTrace, fmt.Sprintf(onceAttrs, message))
}

func onceSpan(nanos int64, message string) string {
	return fmt.Sprintf(`{"resourceSpans":[{"scopeSpans":[{"spans":[{%s,"name":"POST /checkout","events":[{"name":"exception","timeUnixNano":"%d",%s}]}]}]}]}`,
		onceTrace, nanos, fmt.Sprintf(onceAttrs, message))
}

// TestOnce: an error that comes twice by any two ways counts once, in the list
// and after a restart.
func TestOnce(t *testing.T) {
	s := start(t)
	t.Run("span event and log record", func(t *testing.T) { spanEventAndLogAreOne(t, s) })
	t.Run("batch sent again", func(t *testing.T) { batchSentAgainIsOne(t, s) })
	t.Run("id over two receivers", func(t *testing.T) { idOverTwoReceiversIsOne(t, s) })
	t.Run("projects apart", func(t *testing.T) { idsOfTwoProjectsAreTwo(t, s) })
	t.Run("after a restart", func(t *testing.T) { stillOneAfterARestart(t, s) })
}

// export sends an OTLP request that must be accepted.
func (s *service) export(t *testing.T, k key, path, body string) {
	t.Helper()
	a := s.do(t, http.MethodPost, path, body, "Authorization", "Bearer "+k.text, "Content-Type", "application/json")
	if a.status != http.StatusOK || a.body != "{}" {
		t.Errorf("%s: %d %s", path, a.status, a.body)
	}
}

// wantCounts checks the counts of the new records.
func (s *service) wantCounts(t *testing.T, want ...uint64) {
	t.Helper()
	var got []uint64
	for _, r := range s.newRecords(t) {
		got = append(got, r.Count)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("new records count %v, want %v", got, want)
	}
}

const onceNanos = 1795231120683936431

func spanEventAndLogAreOne(t *testing.T, s *service) {
	for i, order := range [][]string{{"log", "span"}, {"span", "log"}, {"span", "log", "log", "span", "log", "span"}} {
		k := s.newKey(t, 600+i)
		before := s.settle(t)
		for _, signal := range order {
			if signal == "log" {
				s.export(t, k, "/v1/logs", onceLog(onceNanos+38808, "order 42 failed"))
			} else {
				s.export(t, k, "/v1/traces", onceSpan(onceNanos, "order 42 failed"))
			}
		}
		s.wantCounts(t, 1)
		if now := s.settle(t); now.folded-before.folded != 1 || now.duplicate-before.duplicate != float64(len(order)-1) {
			t.Errorf("%v: %v folded, %v duplicates", order, now.folded-before.folded, now.duplicate-before.duplicate)
		}
	}
	// Other errors of the same span count for themselves: with another text, and
	// a second time with the same one.
	k := s.newKey(t, 610)
	s.export(t, k, "/v1/logs", onceLog(onceNanos, "a failed"))
	s.export(t, k, "/v1/traces", onceSpan(onceNanos, "b failed"))
	s.wantCounts(t, 1, 1)
	s.export(t, k, "/v1/logs", onceLog(onceNanos+1, "a failed"))
	s.settle(t)
	if sum := s.countOf(t, "a failed"); sum != 2 {
		t.Errorf("two log records of one span: %d", sum)
	}
}

// countOf sums the counts of the records with a message.
func (s *service) countOf(t *testing.T, message string) (sum uint64) {
	t.Helper()
	for _, r := range s.all(t) {
		if r.MessagePreview == message {
			sum += r.Count
		}
	}
	return sum
}

func batchSentAgainIsOne(t *testing.T, s *service) {
	for i, c := range []struct{ file, path, contentType string }{
		{"otlp/testdata/otel-go-logs.pb", "/v1/logs", "application/x-protobuf"},
		{"otlp/testdata/otel-go-logs.json", "/v1/logs", "application/json"},
		{"otlp/testdata/otel-go-traces.pb", "/v1/traces", "application/x-protobuf"},
		{"otlp/testdata/otel-go-traces.json", "/v1/traces", "application/json"},
	} {
		k, content := s.newKey(t, 620+i), string(contentOf(t, c.file))
		want := 3.0
		if c.path == "/v1/traces" {
			want = 1
		}
		before := s.settle(t)
		for range 3 {
			if a := s.do(t, http.MethodPost, c.path, content, "Authorization", "Bearer "+k.text, "Content-Type", c.contentType); a.status != http.StatusOK {
				t.Errorf("%s: %d %s", c.file, a.status, a.body)
			}
		}
		now := s.settle(t)
		sum := uint64(0)
		for _, r := range s.newRecords(t) {
			sum += r.Count
		}
		if now.folded-before.folded != want || now.duplicate-before.duplicate != 2*want || float64(sum) != want {
			t.Errorf("%s three times: %v folded, %v duplicates, counts of %d, want %v", c.file, now.folded-before.folded, now.duplicate-before.duplicate, sum, want)
		}
	}
}

// idOverTwoReceiversIsOne sends one event id to three receivers, in the notations
// of SDKs and people.
func idOverTwoReceiversIsOne(t *testing.T, s *service) {
	const plain, dashed = "8a6a9a2d6f294c5bb1d2e3f405162738", "8a6a9a2d-6f29-4c5b-b1d2-e3f405162738"
	event := func(id string) string { return fmt.Sprintf(`{"event_id":%q,"message":"twice","level":"error"}`, id) }
	envelope := func(k key, id, inner string) answer {
		header := "{}"
		if id != "" {
			header = fmt.Sprintf(`{"event_id":%q}`, id)
		}
		return s.do(t, http.MethodPost, fmt.Sprintf("/api/%d/envelope/", k.project), header+"\n{\"type\":\"event\"}\n"+inner+"\n", "X-Sentry-Auth", "Sentry sentry_key="+k.public)
	}
	stored := func(k key, id string) answer {
		return s.do(t, http.MethodPost, fmt.Sprintf("/api/%d/store/", k.project), event(id), "X-Sentry-Auth", "Sentry sentry_key="+k.public)
	}
	own := func(k key, id string) answer {
		return s.do(t, http.MethodPost, "/api/v1/events", fmt.Sprintf(`{"id":%q,"message":"twice"}`, id), "Authorization", "Bearer "+k.text)
	}
	sends := []func(k key) answer{
		func(k key) answer { return envelope(k, plain, event(plain)) },
		func(k key) answer { return envelope(k, dashed, event("")) },
		func(k key) answer { return envelope(k, "", event(strings.ToUpper(dashed))) },
		func(k key) answer { return stored(k, plain) },
		func(k key) answer { return stored(k, strings.ToUpper(plain)) },
		func(k key) answer { return own(k, plain) },
		func(k key) answer { return own(k, dashed) },
		func(k key) answer { return own(k, strings.ToUpper(plain)) },
		func(k key) answer { return own(k, strings.ToUpper(dashed)) },
	}
	for _, first := range []int{0, 4, 8} { // one event for each receiver is the first
		k := s.newKey(t, 630+first)
		for i := range sends {
			if a := sends[(first+i)%len(sends)](k); a.status/100 != 2 {
				t.Errorf("send %d: %d %s", (first+i)%len(sends), a.status, a.body)
			}
		}
		s.wantCounts(t, 1)
	}
}

// idsOfTwoProjectsAreTwo: a project cannot hide another project's errors, neither
// by their ids nor by their traces.
func idsOfTwoProjectsAreTwo(t *testing.T, s *service) {
	a, b := s.newKey(t, 650), s.newKey(t, 651)
	for _, k := range []key{a, b} {
		s.export(t, k, "/v1/logs", onceLog(onceNanos, "apart"))
		s.export(t, k, "/v1/traces", onceSpan(onceNanos, "apart"))
	}
	s.wantCounts(t, 1, 1)
}

// stillOneAfterARestart: the second signal of an error adds nothing in a service
// that has lost its memory of the first.
func stillOneAfterARestart(t *testing.T, s *service) {
	k := s.newKey(t, 660)
	s.export(t, k, "/v1/logs", onceLog(onceNanos, "before and after"))
	s.wantCounts(t, 1)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	again := startIn(t, s.data)
	again.export(t, k, "/v1/traces", onceSpan(onceNanos, "before and after"))
	again.export(t, k, "/v1/logs", onceLog(onceNanos, "before and after"))
	again.settle(t)
	if sum := again.countOf(t, "before and after"); sum != 1 {
		t.Errorf("counts %d, want 1", sum)
	}
}
