package sentry_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/ingest/sentry"
)

// full is an event that uses every part of the parser.
const full = `{"event_id":"6dc715abb89b4f6694ff46ae15f7dfb8","level":"error","timestamp":1795231120.5,"platform":"php","release":"1","tags":[["a","b"]],` +
	`"exception":{"values":[{"type":"E","value":"v\u00e9","stacktrace":{"frames":[{"filename":"a.php","lineno":17,"in_app":true,"vars":{"x":[1,2.5e3,null]}}]}}]},` +
	`"request":{"url":"http://x.test/","query_string":{"a":["b"]},"headers":{"Host":["x"]},"env":{"REMOTE_ADDR":"192.0.2.1"}},"user":{"id":1,"ip_address":"{{auto}}"},` +
	`"logentry":{"message":"%s","params":["p"]},"fingerprint":["f"],"sdk":{"name":"n","settings":{"infer_ip":"auto"}},"contexts":{"os":{"name":"o"}},"extra":{"y":{"z":true}}}`

// malformed are bodies that the envelope endpoint must refuse.
func malformed() []doortest.Case {
	fields := []string{
		"event_id", "level", "timestamp", "exception", "message", "logentry", "threads", "stacktrace", "tags", "request", "user", "contexts",
		"sdk", "fingerprint", "extra", "breadcrumbs", "type",
	}
	var all []doortest.Case
	for _, c := range doortest.BrokenJSON(full, fields...) {
		all = append(all, doortest.Case{Name: "event: " + c.Name, Body: fmt.Sprintf("{}\n{\"type\":\"event\",\"length\":%d}\n%s\n", len(c.Body), c.Body)})
	}
	for _, c := range doortest.BrokenJSON(`{"sent_at":"2026-11-21T03:21:39Z","dsn":"x"}`, "event_id", "trace") {
		if !strings.ContainsAny(c.Body, "\n\xff") && !strings.HasSuffix(c.Name, "it") {
			all = append(all, doortest.Case{Name: "header: " + c.Name, Body: c.Body + "\n{\"type\":\"event\"}\n" + event})
			all = append(all, doortest.Case{Name: "item header: " + c.Name, Body: "{}\n" + c.Body + "\n" + event})
		}
	}
	for _, c := range doortest.BrokenJSON(`{"items":[{"level":"error","body":"b","attributes":{"a":{"value":1}}}]}`, "items", "version") {
		all = append(all, doortest.Case{Name: "log: " + c.Name, Body: fmt.Sprintf("{}\n{\"type\":\"log\",\"length\":%d}\n%s\n", len(c.Body), c.Body)})
	}
	return all
}

func TestMalformedBodiesAreRefusedAndCostLittle(t *testing.T) {
	bodies := malformed()
	if len(bodies) < 1000 {
		t.Fatalf("only %d bodies", len(bodies))
	}
	h, recorder := newHandler(t)
	var most uint64
	var slowest time.Duration
	var heap [2]uint64
	for round := range heap {
		for _, c := range bodies {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := doortest.CPU()
			w := post(h, envelopeURL, c.Body)
			slowest = max(slowest, doortest.CPU()-began)
			runtime.ReadMemStats(&after)
			took := after.TotalAlloc - before.TotalAlloc
			most = max(most, took)
			if w.Code < 400 || w.Code > 499 {
				t.Errorf("%s: %d %s", c.Name, w.Code, w.Body)
			}
			if w.Body.Len() > 400 || !json.Valid(w.Body.Bytes()) || !strings.HasPrefix(w.Body.String(), `{"detail":"`) {
				t.Errorf("%s: answer %.500s", c.Name, w.Body)
			}
			if limit := uint64(12*len(c.Body) + 1<<20); took > limit {
				t.Errorf("%s: %d bytes allocated for %d", c.Name, took, len(c.Body))
			}
		}
		runtime.GC() // twice, because a pool frees its items in two steps
		runtime.GC()
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		heap[round] = now.HeapAlloc
	}
	if n := recorder.Count(); n != 0 {
		t.Errorf("%d events were taken", n)
	}
	if heap[1] > heap[0]+1<<20 {
		t.Errorf("the heap grew from %d to %d bytes", heap[0], heap[1])
	}
	t.Logf("%d bodies, at most %d KiB allocated and %v each, heap %d then %d KiB", len(bodies), most>>10, slowest, heap[0]>>10, heap[1]>>10)
}

// Valid JSON is not refused for its shape: the parts that are not kept cost only
// the time to read them.
func TestOddEventsAreTakenAndCostLittle(t *testing.T) {
	for _, c := range append(doortest.OddJSON(),
		doortest.Case{Name: "20,001 tags", Body: `{"message":"m","tags":{` + strings.Repeat(`"k":"v",`, 20001) + `"z":"v"}}`},
		doortest.Case{Name: "100,000 empty frames", Body: `{"message":"m","stacktrace":{"frames":[` + strings.Repeat(`{"filename":""},`, 60_000) + `{}]}}`},
		doortest.Case{Name: "100,000 exceptions", Body: `{"message":"m","exception":[` + strings.Repeat(`{"type":"E"},`, 70_000) + `{"type":"E"}]}`},
	) {
		h, recorder := newHandler(t)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := doortest.CPU()
		w := post(h, storeURL, c.Body)
		took := doortest.CPU() - began
		runtime.ReadMemStats(&after)
		if w.Code != 200 {
			t.Errorf("%s: %d %s", c.Name, w.Code, w.Body)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(8*len(c.Body)+1<<20) {
			t.Errorf("%s: %d bytes allocated for %d", c.Name, n, len(c.Body))
		}
		for _, d := range recorder.Take() {
			if len(d.Context.Tags) > ingest.MaxTags || len(d.Context.Exceptions) > ingest.MaxExceptions {
				t.Errorf("%s: %d tags, %d exceptions", c.Name, len(d.Context.Tags), len(d.Context.Exceptions))
			}
		}
		t.Logf("%s: %d KiB in %v", c.Name, (after.TotalAlloc-before.TotalAlloc)>>10, took)
	}
}

// Every prefix of a recorded request is refused, or is a complete, shorter
// envelope. An event is taken only if it is complete.
func TestNoPrefixIsMistakenForAnEvent(t *testing.T) {
	for _, name := range []string{"sentry-go-exception.http", "sentry-node-exception.http", "sentry-go-slog-log-item.http", "client-reports-after-errors.http"} {
		rec := recordings(t, name)[0]
		// The event is complete where its line ends.
		lines := bytes.SplitAfterN(rec.Body, []byte("\n"), 4)
		whole := len(lines[0]) + len(lines[1]) + len(bytes.TrimSuffix(lines[2], []byte("\n")))
		h, recorder := newHandler(t)
		taken := 0
		step := 1 + len(rec.Body)/3000 // long recordings are cut in larger steps
		for n := len(rec.Body); n >= 0; n -= step {
			r := httptest.NewRequest(http.MethodPost, envelopeURL, bytes.NewReader(rec.Body[:n]))
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			got := len(recorder.Take())
			switch {
			case w.Code == 200 && got > 0 && n >= whole:
				taken++
			case w.Code == 200 && got == 0 && n < whole:
			case w.Code == 400 && got == 0:
			default:
				t.Errorf("%s cut at %d of %d: %d %s, %d events", name, n, len(rec.Body), w.Code, w.Body, got)
			}
		}
		if taken == 0 {
			t.Errorf("%s: not even the whole was taken", name)
		}
	}
}

// fullContext is an event with everything that may stand around an error.
const fullContext = `{"message":"m","breadcrumbs":{"values":[{"timestamp":1795231120.5,"type":"http","category":"fetch","level":"info","message":"GET","data":{"url":"/x","token":"x"}}]},
	"contexts":{"device":{"arch":"amd64"},"trace":{"trace_id":"4a26014cd67500fbc00344411860d024"},"runtime":{"name":"go","go_maxprocs":2}},"extra":{"cart":[1,{"a":null}]},
	"exception":{"values":[{"type":"E","mechanism":{"type":"chained","exception_id":1,"parent_id":0,"is_exception_group":true},"stacktrace":{"frames":[
	{"filename":"a.py","lineno":7,"colno":5,"in_app":true,"pre_context":["a","b"],"context_line":"c\tc","post_context":["d"],"vars":{"x":"'\u00e9'","y":{"z":[1]}}}]}}]}}`

// TestNoPrefixOfContext: an event that breaks off anywhere is refused.
func TestNoPrefixOfContext(t *testing.T) {
	for n := range len(fullContext) {
		if _, err := sentry.ParseEvent([]byte(fullContext[:n])); err == nil {
			t.Errorf("taken when cut at %d: %s", n, fullContext[:n])
		}
	}
	if d, err := sentry.ParseEvent([]byte(fullContext)); err != nil || len(d.Context.Breadcrumbs) != 1 {
		t.Errorf("%v, %+v", err, d)
	}
}

func FuzzEnvelope(f *testing.F) {
	for _, name := range []string{"sentry-go-exception.http", "sentry-node-small-items.http", "sentry-go-slog-log-item.http", "client-reports-after-errors.http"} {
		for _, rec := range recordings(f, name) {
			f.Add(rec.Body)
		}
	}
	f.Add([]byte("{}\n{\"type\":\"event\",\"length\":-9223372036854775808}\n{}"))
	f.Add([]byte("{}\n{\"type\":\"attachment\",\"length\":9223372036854775807}\n{}"))
	f.Fuzz(func(t *testing.T, content []byte) {
		h, recorder := newHandler(t)
		r := httptest.NewRequest(http.MethodPost, envelopeURL, bytes.NewReader(content))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		checkFuzzed(t, w, recorder)
	})
}

func FuzzEvent(f *testing.F) {
	f.Add([]byte(full))
	for _, name := range []string{"sentry-python-store-gzip.http"} {
		f.Add(recordings(f, name)[0].Body)
	}
	f.Add([]byte(`{"exception":{"values":[{"type":"E"}],"type":"x"},"logentry":{"message":"%(a)s {0}","params":{"a":[1]}}}`))
	f.Add([]byte(fullContext))
	f.Fuzz(func(t *testing.T, content []byte) {
		h, recorder := newHandler(t)
		r := httptest.NewRequest(http.MethodPost, storeURL, bytes.NewReader(content))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		checkFuzzed(t, w, recorder)
		if taken := recorder.Take(); len(taken) > 0 && content[0] == '{' && !json.Valid(content) {
			t.Errorf("taken although it is no JSON: %q", content)
		}
	})
}

func checkFuzzed(t *testing.T, w *httptest.ResponseRecorder, recorder *doortest.Recorder) {
	t.Helper()
	if w.Code != 200 && (w.Code < 400 || w.Code > 499) || !json.Valid(w.Body.Bytes()) || w.Body.Len() > 500 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w.Code != 200 && recorder.Count() > 0 {
		t.Errorf("%d, and %d events were taken", w.Code, recorder.Count())
	}
}
