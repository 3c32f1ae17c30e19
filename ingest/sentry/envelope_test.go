package sentry_test

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/ingest/sentry"
)

func TestEnvelopeFraming(t *testing.T) {
	const a, b = `{"message":"a"}`, `{"message":"b"}`
	f := func(name, body string, status int, want ...string) {
		t.Helper()
		h, recorder := newHandler(t)
		w := post(h, envelopeURL, body)
		var got []string
		for _, d := range recorder.Take() {
			got = append(got, d.Message)
		}
		if diff := cmp.Diff(want, got); w.Code != status || diff != "" {
			t.Errorf("%s: %d %s (-want +got):\n%s", name, w.Code, w.Body, diff)
		}
	}
	f("with a length", "{}\n{\"type\":\"event\",\"length\":15}\n"+a+"\n", 200, "a")
	f("with a length, no last line break", "{}\n{\"type\":\"event\",\"length\":15}\n"+a, 200, "a")
	f("without a length", "{}\n{\"type\":\"event\"}\n"+a+"\n", 200, "a")
	f("the length is a text", "{}\n{\"type\":\"event\",\"length\":\"15\"}\n"+a, 200, "a")
	f("the length is null", "{}\n{\"type\":\"event\",\"length\":null}\n"+a, 200, "a")
	f("the length is a word", "{}\n{\"type\":\"event\",\"length\":\"long\"}\n"+a, 200, "a")
	f("the length is a boolean", "{}\n{\"type\":\"event\",\"length\":true}\n"+a, 200, "a")
	f("the length is a list", "{}\n{\"type\":\"event\",\"length\":[15]}\n"+a, 200, "a")
	f("the length is negative", "{}\n{\"type\":\"event\",\"length\":-15}\n"+a, 200, "a")
	f("the length is a float", "{}\n{\"type\":\"event\",\"length\":15.0}\n"+a, 200, "a")
	f("line breaks inside of a length", "{}\n{\"type\":\"event\",\"length\":17}\n{\n\"message\":\"a\"\n}\n", 200, "a")
	f("carriage returns are payload", "{}\r\n{\"type\":\"event\"}\r\n"+a+"\r\n", 200, "a")
	f("blank lines at the end", "{}\n{\"type\":\"event\"}\n"+a+"\n\n\n", 200, "a")
	f("two events", "{}\n{\"type\":\"event\"}\n"+a+"\n{\"type\":\"event\",\"length\":15}\n"+b, 200, "a", "b")
	f("unknown items are passed", "{}\n{\"type\":\"quark\"}\nany\x00thing\n{\"type\":\"event\"}\n"+a, 200, "a")
	f("unknown items with a length", "{}\n{\"type\":\"attachment\",\"length\":5}\n\n\n\n\n\n\n{\"type\":\"event\"}\n"+a, 200, "a")
	f("an empty attachment", "{}\n{\"type\":\"attachment\",\"length\":0}\n\n{\"type\":\"event\"}\n"+a, 200, "a")
	f("an item without a type", "{}\n{}\nx\n{\"type\":\"event\"}\n"+a, 200, "a")
	f("a large attachment", "{}\n{\"type\":\"attachment\",\"length\":3000000}\n"+strings.Repeat("x", 3000000)+"\n{\"type\":\"event\"}\n"+a, 200, "a")
	f("a large item without a length", "{}\n{\"type\":\"replay\"}\n"+strings.Repeat("x", 3000000)+"\n{\"type\":\"event\"}\n"+a, 200, "a")
	f("odd header fields", `{"event_id":7,"dsn":[],"sent_at":"+00:00","sdk":null,"trace":"x"}`+"\n{\"type\":\"event\"}\n"+a, 200, "a")
	f("broken reports are ignored", "{}\n{\"type\":\"client_report\"}\n{broken\n{\"type\":\"event\"}\n"+a, 200, "a")

	f("the payload is cut", "{}\n{\"type\":\"event\",\"length\":16}\n"+a, 400)
	f("the length is no integer's", "{}\n{\"type\":\"event\",\"length\":99999999999999999999}\n"+a, 413)
	f("the length is half a byte", "{}\n{\"type\":\"event\",\"length\":14.5}\n"+a, 413)
	f("the length is beyond floats", "{}\n{\"type\":\"event\",\"length\":-1e400}\n"+a, 413)
	f("the length of an attachment is no integer's", "{}\n{\"type\":\"attachment\",\"length\":99999999999999999999}\n"+a, 400)
	f("the payload goes on", "{}\n{\"type\":\"event\",\"length\":14}\n"+a, 400)
	f("an attachment is cut", "{}\n{\"type\":\"event\"}\n"+a+"\n{\"type\":\"attachment\",\"length\":9}\nx", 400)
	f("an attachment goes on", "{}\n{\"type\":\"attachment\",\"length\":1}\nxy\n", 400)
	f("a header without a payload", "{}\n{\"type\":\"event\"}\n", 400)
	f("an item header is no JSON", "{}\nevent\n"+a, 400)
	f("an item header is a list", "{}\n[]\n"+a, 400)
	f("junk behind an item header", "{}\n{\"type\":\"event\"}x\n"+a, 400)
	f("junk behind the event", "{}\n{\"type\":\"event\",\"length\":17}\n"+a+" x\n", 400)
	f("100 items", "{}"+strings.Repeat("\n{}\nx", 100), 200)
	f("101 items", "{}"+strings.Repeat("\n{}\nx", 101), 413)
	f("an event line over the limit", "{}\n{\"type\":\"event\"}\n{\"message\":\""+strings.Repeat("x", ingest.MaxEvent)+"\"}", 413)
	f("a log line over the limit", "{}\n{\"type\":\"log\"}\n{\"items\":[],\"x\":\""+strings.Repeat("x", ingest.MaxLogItem)+"\"}", 413)
	f("events over the limit together", "{}"+strings.Repeat("\n{\"type\":\"event\"}\n"+strings.Repeat(" ", ingest.MaxEvent-len(a))+a, 9), 413)
	f("an event at the limit", "{}\n{\"type\":\"event\"}\n"+strings.Repeat(" ", ingest.MaxEvent-len(a))+a, 200, "a")
}

// Two events under one header id are two events.
func TestHeaderIDBelongsToTheFirstEvent(t *testing.T) {
	h, recorder := newHandler(t)
	post(h, envelopeURL, `{"event_id":"6dc715abb89b4f6694ff46ae15f7dfb8","sent_at":"2026-11-21T03:21:39Z"}`+
		"\n{\"type\":\"event\"}\n{\"message\":\"a\"}\n{\"type\":\"event\"}\n{\"message\":\"b\"}")
	drafts := recorder.Take()
	if len(drafts) != 2 || drafts[0].ClientID != "6dc715abb89b4f6694ff46ae15f7dfb8" || drafts[1].ClientID == drafts[0].ClientID || drafts[1].ClientID == "" {
		t.Fatalf("%+v", drafts)
	}
	if drafts[0].SentAt.IsZero() || !drafts[0].SentAt.Equal(drafts[1].SentAt) {
		t.Errorf("sent at %v and %v", drafts[0].SentAt, drafts[1].SentAt)
	}
}

func TestStoreForms(t *testing.T) {
	packed := func(text string) string {
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		_, _ = z.Write([]byte(text))
		_ = z.Close()
		return b.String()
	}
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	wrapped := encode(packed(event))
	f := func(name, body string, want int) {
		t.Helper()
		h, recorder := newHandler(t)
		w := post(h, storeURL, body, "Content-Type", "application/octet-stream")
		if w.Code != want || (recorder.Count() == 1) != (want == 200) {
			t.Errorf("%s: %d %s, %d taken", name, w.Code, w.Body, recorder.Count())
		}
		for _, d := range recorder.Take() {
			if d.ClientID != "6dc715abb89b4f6694ff46ae15f7dfb8" || d.Message != "it broke" {
				t.Errorf("%s: %+v", name, d)
			}
		}
	}
	f("JSON", event, 200)
	f("JSON with blanks", " \n"+event+"\n", 200)
	f("base64 of zlib", wrapped, 200)
	f("with line breaks", wrapped[:20]+"\r\n"+wrapped[20:]+"\n", 200)
	f("without padding", strings.TrimRight(wrapped, "="), 200)
	f("base64 of JSON", encode(event), 200)
	f("empty", "", 400)
	f("a list", "[]", 400)
	f("no base64", "it broke", 400)
	f("base64 of junk", encode("it broke"), 400)
	f("cut base64", wrapped[:len(wrapped)/2], 400)
	f("zlib of junk", encode(packed("it broke")), 400)
	f("zlib bomb", encode(packed(strings.Repeat(" ", 8<<20))), 413)
	f("too large", `{"message":"`+strings.Repeat("x", ingest.MaxEvent)+`"}`, 413)
	f("far too large", strings.Repeat(" ", 2*ingest.MaxEvent), 413)
	h, recorder := newHandler(t)
	if w := post(h, storeURL, `{"type":"transaction"}`); w.Code != 200 || w.Body.String() != "{}" || recorder.Count() != 0 {
		t.Errorf("transaction: %d %s", w.Code, w.Body)
	}
	if w := post(h, "/api/7/store/", event); w.Code != 401 {
		t.Errorf("without a key: %d", w.Code)
	}
}

func TestLostErrorsAreCounted(t *testing.T) {
	registry := prometheus.NewRegistry()
	h, _ := newHandler(t, func(c *sentry.Config) { c.Registerer = registry })
	for _, rec := range append(recordings(t, "client-reports-after-errors.http"), recordings(t, "sentry-node-small-items.http")...) {
		h.ServeHTTP(&nullWriter{header: map[string][]string{}}, replay(t, rec))
	}
	post(h, envelopeURL, "{}\n{\"type\":\"client_report\"}\n"+`{"discarded_events":[{"reason":"made up","category":"error","quantity":3},`+
		`{"reason":"queue_overflow","category":"default","quantity":"4"},{"reason":"queue_overflow","category":"error","quantity":-5},`+
		`{"reason":"queue_overflow","category":"error","quantity":1e12},{"reason":"queue_overflow","category":"error"},null,7]}`)
	// The duplicate of an exception, which sentry-python does not send, is no loss.
	for _, rec := range recordings(t, "python/enable-logs.http") {
		h.ServeHTTP(&nullWriter{header: map[string][]string{}}, replay(t, rec))
	}
	// A request without a valid key does not count, nor does a broken envelope.
	post(h, "/api/7/envelope/?sentry_key="+strings.Repeat("0", 32), "{}\n{\"type\":\"client_report\"}\n"+`{"discarded_events":[{"reason":"send_error","category":"error","quantity":9}]}`)
	if diff := cmp.Diff(map[string]uint64{"send_error": 2, "other": 3, "queue_overflow": 4}, h.Lost()); diff != "" {
		t.Errorf("running totals (-want +got):\n%s", diff)
	}
	h.Lost()["send_error"] = 99
	if h.Lost()["send_error"] != 2 {
		t.Error("the totals can be changed from outside")
	}
	got := doortest.Counters(registry)
	want := map[string]float64{"send_error": 2, "other": 3, "queue_overflow": 4}
	for name, value := range got {
		if reason, ok := strings.CutPrefix(name, "errata_client_lost_total "); ok && want[reason] != value {
			t.Errorf("%s: %v, want %v", reason, value, want[reason])
		}
	}
	if n := got["errata_client_left_out_total event_processor"]; n != 1 {
		t.Errorf("%v duplicates were left out", n)
	}
	for reason := range want {
		if _, ok := got["errata_client_lost_total "+reason]; !ok {
			t.Errorf("%s is not counted", reason)
		}
	}
}

func TestLogItems(t *testing.T) {
	const (
		failed = `{"timestamp":1795231193.5,"level":"error","body":"payment failed","trace_id":"85b7","attributes":{"user.id":{"value":77},"exception.type":{"value":"PayError"},` +
			`"exception.stacktrace":{"value":"PayError\n    at pay (/srv/app/pay.js:3:1)"},"url.path":{"value":"/pay"},"url.query":{"value":"a=1"},"book":{"value":"database"},"ms":{"value":12}}}`
		info = `{"timestamp":1795231193.5,"level":"info","body":"served"}`
	)
	h, recorder := newHandler(t)
	container := func(items ...string) string {
		return "{}\n{\"type\":\"log\"}\n{\"version\":2,\"items\":[" + strings.Join(items, ",") + "]}"
	}
	w := post(h, envelopeURL, container(failed, info, failed, `{"severity_number":21,"body":"gone"}`, `null`, `7`, `{"level":"warn","severity_number":17}`))
	drafts := recorder.Take()
	if w.Code != 200 || len(drafts) != 3 {
		t.Fatalf("%d %s: %d drafts", w.Code, w.Body, len(drafts))
	}
	got := drafts[0]
	line := fmt.Sprintf("%s %s %s %q %q:%d %q %s %s %v", got.Context.Source, got.Book, got.Level, got.Class, got.File, got.Line, got.URI, got.UserID, got.Context.TraceID, got.Context.Tags)
	if want := `sentry-log database error "PayError" "/srv/app/pay.js":3 "/pay?a=1" 77 85b7 [{book database} {ms 12}]`; line != want {
		t.Errorf("%s\nwant %s", line, want)
	}
	if drafts[0].ClientID == drafts[1].ClientID {
		t.Error("two equal logs of one request are two")
	}
	if drafts[2].Level.String() != "fatal" || drafts[2].Message != "gone" {
		t.Errorf("by number: %+v", drafts[2])
	}
	post(h, envelopeURL, container(failed, failed))
	again := recorder.Take()
	if len(again) != 2 || again[0].ClientID != drafts[0].ClientID || again[1].ClientID != drafts[1].ClientID {
		t.Error("the ids of a resend differ")
	}
	for name, body := range map[string]string{
		"broken": container(`{"level":}`), "not an object": "{}\n{\"type\":\"log\"}\n[]", "cut": container(failed)[:300], "junk behind": container(failed) + "x",
	} {
		if w := post(h, envelopeURL, body); w.Code != 400 || len(recorder.Take()) != 0 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if w := post(h, envelopeURL, container(strings.Repeat(failed+",", ingest.MaxBatch)+failed)); w.Code != 413 {
		t.Errorf("too many: %d %s", w.Code, w.Body)
	}
}
