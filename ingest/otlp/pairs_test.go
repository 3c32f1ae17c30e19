package otlp_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"

	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/ingest/otlp"
)

const (
	traceID = "08a022e8b2b020683b308780d70f3cad"
	spanID  = "68624199d6e1f5e3"
	// happened is not near the end of a pairWindow.
	happened = 1795231120683936431
)

// sighting is an error as a log record or a span event of one span.
type sighting struct {
	class, message string
	nanos          int64 // after happened
}

func (s sighting) attrs() string {
	return attrs("exception.type", str(s.class), "exception.message", str(s.message))
}

func logRequest(span string, all ...sighting) string {
	var records []string
	for _, s := range all {
		records = append(records, fmt.Sprintf(`{"timeUnixNano":"%d","severityNumber":17,"body":{"stringValue":"checkout failed"},"traceId":%q,"spanId":%q,%s}`,
			happened+s.nanos, strings.ToUpper(traceID), span, s.attrs()))
	}
	return `{"resourceLogs":[{"scopeLogs":[{"logRecords":[` + strings.Join(records, ",") + `]}]}]}`
}

func spanRequest(span string, all ...sighting) string {
	var events []string
	for _, s := range all {
		events = append(events, fmt.Sprintf(`{"name":"exception","timeUnixNano":"%d",%s}`, happened+s.nanos, s.attrs()))
	}
	return fmt.Sprintf(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":%q,"spanId":%q,"name":"POST /checkout","events":[%s]}]}]}]}`,
		traceID, span, strings.Join(events, ","))
}

// counted sends the requests and returns the number of different events.
func counted(t testing.TB, h *otlp.Handler, recorder *doortest.Recorder, requests ...string) int {
	t.Helper()
	ids := map[string]bool{}
	for _, request := range requests {
		path := "/v1/logs"
		if strings.HasPrefix(request, `{"resourceSpans"`) {
			path = "/v1/traces"
		}
		if w := post(h, path, jsonText, []byte(request)); w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		for _, d := range recorder.Take() {
			ids[d.ClientID] = true
		}
	}
	return len(ids)
}

func TestSpanEventAndLogOfOneErrorAreOne(t *testing.T) {
	e := func(nanos int64) sighting { return sighting{"OrderError", "order 42 failed", nanos} }
	other := sighting{"OrderError", "order 7 failed", 9}
	for name, c := range map[string]struct {
		requests []string
		want     int
	}{
		"log, then span":            {[]string{logRequest(spanID, e(38808)), spanRequest(spanID, e(0))}, 1},
		"span, then log":            {[]string{spanRequest(spanID, e(0)), logRequest(spanID, e(38808))}, 1},
		"each three times":          {[]string{spanRequest(spanID, e(0)), logRequest(spanID, e(1)), logRequest(spanID, e(1)), spanRequest(spanID, e(0)), logRequest(spanID, e(1)), spanRequest(spanID, e(0))}, 1},
		"another span":              {[]string{logRequest(spanID, e(1)), spanRequest("b7ad6b7169203331", e(0))}, 2},
		"another message":           {[]string{logRequest(spanID, e(1)), spanRequest(spanID, other)}, 2},
		"another class":             {[]string{logRequest(spanID, e(1)), spanRequest(spanID, sighting{"StockError", "order 42 failed", 0})}, 2},
		"six minutes later":         {[]string{logRequest(spanID, e(6*60*1e9)), spanRequest(spanID, e(0))}, 2},
		"wrapped in Go":             {[]string{logRequest(spanID, sighting{"*main.OrderError", "load: order 42", 1}), spanRequest(spanID, sighting{"*fmt.wrapError", "load: order 42", 0})}, 1},
		"module left out in Python": {[]string{logRequest(spanID, sighting{"OrderError", "m", 1}), spanRequest(spanID, sighting{"shop.errors.OrderError", "m", 0})}, 1},
		"Go, no message":            {[]string{logRequest(spanID, sighting{"*main.A", "", 1}), spanRequest(spanID, sighting{"*main.B", "", 0})}, 2},
		"no span":                   {[]string{logRequest("", e(1)), spanRequest("", e(0))}, 2},
		"a span of zeros":           {[]string{logRequest("0000000000000000", e(1)), spanRequest("0000000000000000", e(0))}, 2},
		"three times in a loop":     {[]string{spanRequest(spanID, e(0), e(1), e(2)), logRequest(spanID, e(10), e(11), e(12))}, 3},
		"in batches":                {[]string{logRequest(spanID, e(10), e(11)), logRequest(spanID, e(12)), spanRequest(spanID, e(0), e(1), e(2)), logRequest(spanID, e(12)), logRequest(spanID, e(10), e(11))}, 3},
		"more logs than exceptions": {[]string{logRequest(spanID, e(10), e(11), other), spanRequest(spanID, e(0))}, 3},
	} {
		h, recorder := newHandler(t)
		if got := counted(t, h, recorder, c.requests...); got != c.want {
			t.Errorf("%s: %d errors, want %d", name, got, c.want)
		}
	}
}

// The first error of a span has the same id on every node, without any exchange
// between the nodes.
func TestPairsOverTwoNodes(t *testing.T) {
	var ids []string
	for _, request := range []string{logRequest(spanID, sighting{"E", "m", 5}), spanRequest(spanID, sighting{"E", "m", 0})} {
		h, recorder := newHandler(t)
		path := "/v1/" + map[bool]string{true: "logs", false: "traces"}[strings.HasPrefix(request, `{"resourceLogs"`)]
		if w := post(h, path, jsonText, []byte(request)); w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		ids = append(ids, recorder.Take()[0].ClientID)
	}
	if ids[0] != ids[1] || len(ids[0]) != 2+32 {
		t.Errorf("ids %v", ids)
	}
}

// Many senders at once: each error has one number.
func TestPairsUnderConcurrency(t *testing.T) {
	h, recorder := newHandler(t)
	const errors, senders = 40, 8
	var all []sighting
	for n := range errors {
		all = append(all, sighting{"E", "m", int64(n)})
	}
	var sending sync.WaitGroup
	for range senders {
		for _, request := range []struct{ path, body string }{{"/v1/traces", spanRequest(spanID, all...)}, {"/v1/logs", logRequest(spanID, all[:errors/2]...)}, {"/v1/logs", logRequest(spanID, all[errors/2:]...)}} {
			sending.Go(func() { post(h, request.path, jsonText, []byte(request.body)) })
		}
	}
	sending.Wait()
	ids := map[string]bool{}
	for _, d := range recorder.Take() {
		ids[d.ClientID] = true
	}
	if len(ids) != errors || recorder.Count() != 2*errors*senders {
		t.Errorf("%d errors of %d records, want %d of %d", len(ids), recorder.Count(), errors, 2*errors*senders)
	}
}

// A log record without an exception does not say which error it belongs to.
func TestALogWithoutAnExceptionHasNoTwin(t *testing.T) {
	h, recorder := newHandler(t)
	e := sighting{"", "order 42 failed", 0}
	bare := strings.Replace(logRequest(spanID, e), e.attrs(), attrs("code.lineno", `{"intValue":1}`), 1)
	bare = strings.Replace(bare, "checkout failed", e.message, 1)
	if got := counted(t, h, recorder, bare, spanRequest(spanID, e)); got != 2 {
		t.Errorf("%d errors, want 2", got)
	}
}

func TestSpanExceptionsCanBeSwitched(t *testing.T) {
	e := sighting{"OrderError", "order 42 failed", 0}
	both := []string{logRequest(spanID, e), spanRequest(spanID, e), spanRequest(spanID, e)}
	for choice, want := range map[otlp.SpanExceptions]struct {
		errors  int
		dropped map[string]float64
	}{
		"":          {1, map[string]float64{"errata_otlp_dropped_total pair": 1}},
		otlp.Dedupe: {1, map[string]float64{"errata_otlp_dropped_total pair": 1}},
		otlp.On:     {2, map[string]float64{}},
		otlp.Off:    {1, map[string]float64{"errata_otlp_dropped_total off": 2}},
	} {
		registry := prometheus.NewRegistry()
		h, recorder := newHandler(t, func(c *otlp.Config) { c.SpanExceptions, c.Registerer = choice, registry })
		if got := counted(t, h, recorder, both...); got != want.errors {
			t.Errorf("%q: %d errors, want %d", choice, got, want.errors)
		}
		dropped := doortest.Counters(registry)
		maps.DeleteFunc(dropped, func(name string, _ float64) bool { return !strings.HasPrefix(name, "errata_otlp") })
		if !maps.Equal(dropped, want.dropped) {
			t.Errorf("%q: %v, want %v", choice, dropped, want.dropped)
		}
	}
	if _, err := otlp.New(otlp.Config{Config: newConfig(), SpanExceptions: "maybe"}); err == nil || !strings.Contains(err.Error(), "dedupe, on, off") {
		t.Errorf("an unknown choice: %v", err)
	}
}

// A span in which an error happened n times is n errors, for all cuts of the
// batches, all orders of the signals, and with resends.
func TestPairsHoldInAnyOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var requests []string
		want := 0
		for span := range rapid.IntRange(1, 3).Draw(rt, "spans") {
			id := fmt.Sprintf("%016x", span+1)
			var all []sighting
			for n := range rapid.IntRange(1, 5).Draw(rt, "errors") {
				all = append(all, sighting{"E", "m", int64(1000 * n)})
			}
			want += len(all)
			requests = append(requests, spanRequest(id, all...))
			for len(all) > 0 {
				n := rapid.IntRange(1, len(all)).Draw(rt, "batch")
				requests = append(requests, logRequest(id, all[:n]...))
				all = all[n:]
			}
		}
		again := rapid.SliceOf(rapid.SampledFrom(requests)).Draw(rt, "again")
		order := rapid.Permutation(slices.Concat(requests, again)).Draw(rt, "order")
		h, recorder := newHandler(t)
		if got := counted(t, h, recorder, order...); got != want {
			rt.Errorf("%d errors, want %d: %q", got, want, order)
		}
	})
}
