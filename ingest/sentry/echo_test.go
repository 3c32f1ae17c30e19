package sentry_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/ingest/sentry"
)

// sentry-python with enable_logs sends each call to a logger as an event and as a log.
func TestAnEventAndItsLogCountOnce(t *testing.T) {
	for _, name := range []string{"python/enable-logs.http", "python/enable-logs-stack.http"} {
		h, recorder := newHandler(t)
		send := func(rec doortest.Recording) {
			t.Helper()
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, replay(t, rec)); w.Code != 200 {
				t.Fatalf("%s: %d %s", name, w.Code, w.Body)
			}
		}
		all := recordings(t, name)
		for _, rec := range all {
			send(rec)
		}
		var got []string
		for _, d := range recorder.Take() {
			got = append(got, fmt.Sprintf("%s %s %q %q", d.Context.Source, d.Class, d.Message, d.Context.Log))
		}
		paid, ordered := `sentry  "payment failed for 77" ""`, `sentry KeyError "'sku'" "order 77 failed"`
		want := []string{
			paid, ordered, paid, ordered, // two requests
			`sentry ValueError "boom" ""`, // Flask logs it too
			`sentry  "outside" ""`, `sentry  "gone tea" ""`, `sentry  "loop" ""`, `sentry  "loop" ""`, `sentry  "loop" ""`,
			`sentry ValueError "chained" "with exc"`,
			`sentry-log  "own log 5" ""`, // the application made no event of it
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for _, rec := range slices.Backward(all) { // an answer was lost
			send(rec)
		}
		logs := 0
		for _, d := range recorder.Take() {
			if d.Context.Source == "sentry-log" {
				logs++
			}
		}
		if logs != 1 {
			t.Errorf("%s: %d logs count when all is sent again", name, logs)
		}
	}
}

// said is an envelope with an event of a logger, and logged one with its log.
func said(id, trace, at, text string) string {
	return "{}\n{\"type\":\"event\"}\n" + fmt.Sprintf(`{"event_id":%q,"logger":"shop","level":"error","timestamp":%q,"logentry":{"formatted":%q},"contexts":{"trace":{"trace_id":%q}}}`, id, at, text, trace)
}

func logged(trace, at, text, origin string) string {
	return "{}\n{\"type\":\"log\"}\n" + fmt.Sprintf(`{"items":[{"timestamp":%q,"level":"error","body":%q,"trace_id":%q,"attributes":{"logger.name":{"value":"shop"},"sentry.origin":{"value":%q}}}]}`, at, text, trace, origin)
}

func TestLogsThatRepeatNoEventCount(t *testing.T) {
	const trace, stdlib = "d47b025ec1514a27aa46ac6d64bea115", "auto.log.stdlib"
	now := received
	h, recorder := newHandler(t, func(c *sentry.Config) { c.Now = func() time.Time { return now } })
	f := func(name string, want int, bodies ...string) {
		t.Helper()
		for _, body := range bodies {
			post(h, envelopeURL, body)
		}
		if got := len(recorder.Take()); got != want {
			t.Errorf("%s: %d count, want %d", name, got, want)
		}
	}
	id := func(n int) string { return fmt.Sprintf("%032x", 1000+n) }
	at := func(second int) string { return fmt.Sprintf("2026-11-21T03:10:%02d.5Z", second) }
	f("a pair", 1, said(id(1), trace, at(1), "full"), logged(trace, at(1), "full", stdlib))
	f("one event, two logs", 2, said(id(2), trace, at(2), "twice"), logged(trace, at(2), "twice", stdlib), logged(trace, at(3), "twice", stdlib))
	f("another trace", 2, said(id(3), trace, at(4), "full"), logged(id(9), at(4), "full", stdlib))
	f("another text", 2, said(id(4), trace, at(5), "full"), logged(trace, at(5), "empty", stdlib))
	f("another time", 2, said(id(5), trace, at(10), "late"), logged(trace, at(20), "late", stdlib))
	f("a log of the application", 2, said(id(6), trace, at(6), "own"), logged(trace, at(6), "own", "manual"))
	f("no trace", 2, said(id(7), "", at(7), "none"), logged("", at(7), "none", stdlib))
	recorder.Err = errata.Errorf(errata.KindLogUnavailable, "away")
	post(h, envelopeURL, said(id(8), trace, at(8), "refused"))
	recorder.Err = nil
	f("the event was not stored", 1, logged(trace, at(8), "refused", stdlib))
	f("but then it was", 1, said(id(8), trace, at(8), "refused"), logged(trace, at(8), "refused", stdlib))
	post(h, envelopeURL, said(id(10), trace, at(9), "old"))
	for range 2 {
		now = now.Add(5 * time.Minute)
		post(h, envelopeURL, said(id(11+now.Minute()), id(99), at(9), "other"))
	}
	recorder.Take()
	f("the event is forgotten", 1, logged(trace, at(9), "old", stdlib))
}

// A process in a loop costs no more memory or time for each event than another.
func TestManyEventsOfOneText(t *testing.T) {
	const trace = "d47b025ec1514a27aa46ac6d64bea115"
	h, recorder := newHandler(t)
	const events = 1500
	for i := range events {
		post(h, envelopeURL, said(fmt.Sprintf("%032x", i+1), trace, "2026-11-21T03:10:00.5Z", "loop"))
	}
	for i := range events {
		post(h, envelopeURL, logged(trace, fmt.Sprintf("2026-11-21T03:10:00.%06dZ", 400000+i), "loop", "auto.log.stdlib"))
	}
	if got := len(recorder.Take()); got != events+500 { // it remembers 1,000 of one text
		t.Errorf("%d count", got)
	}
}
