package sentry

import (
	"bytes"
	"net/netip"
	"os"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/projects"
)

// event is the event item of a recorded envelope.
func recordedEvent(t testing.TB, name string) []byte {
	t.Helper()
	file, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(file) {
		if len(line) > 1000 && (bytes.HasPrefix(line, []byte(`{"exception"`)) || bytes.HasPrefix(line, []byte(`{"environment"`)) || bytes.HasPrefix(line, []byte(`{"level"`))) {
			return bytes.TrimSpace(line)
		}
	}
	t.Fatalf("%s holds no event", name)
	return nil
}

// largeEvent is an event of 16 KB as Python's SDK makes it of a Django view:
// two exceptions, ten frames with source lines and variables, breadcrumbs.
func largeEvent(t testing.TB) []byte {
	t.Helper()
	document, err := os.ReadFile("testdata/python-django-16k.json")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(document)
}

// BenchmarkLargeEvent is the parser for an event of 16 KB, the rules that turn
// its draft into an event, and both.
func BenchmarkLargeEvent(b *testing.B) {
	document := largeEvent(b)
	var rules ingest.Rules
	source := ingest.Source{Project: 7, Received: time.Date(2026, 11, 21, 3, 19, 0, 0, time.UTC)}
	parsed, ok, err := parseEvent(document, netip.Addr{})
	if err != nil || !ok {
		b.Fatal(ok, err)
	}
	for _, part := range []struct {
		name         string
		parse, apply bool
	}{{"parse", true, false}, {"rules", false, true}, {"whole", true, true}} {
		b.Run(part.name, func(b *testing.B) {
			b.SetBytes(int64(len(document)))
			b.ReportAllocs()
			began := doortest.CPU()
			for b.Loop() {
				draft := parsed
				if part.parse {
					if draft, ok, err = parseEvent(document, netip.Addr{}); err != nil || !ok {
						b.Fatal(ok, err)
					}
				}
				if part.apply {
					if _, refused := rules.Event(&draft, source, errata.EventID{}); refused != nil {
						b.Fatal(refused)
					}
				}
			}
			b.ReportMetric(float64(doortest.CPU()-began)/float64(b.N), "cpu-ns/op")
		})
	}
}

// BenchmarkParseEvent is the parser and the mapping alone.
func BenchmarkParseEvent(b *testing.B) {
	for _, name := range []string{"sentry-go-exception.http", "sentry-python-store-gzip.http", "sentry-node-exception.http"} {
		b.Run(name, func(b *testing.B) {
			document := recordedEvent(b, name)
			b.SetBytes(int64(len(document)))
			b.ReportAllocs()
			began := doortest.CPU()
			for b.Loop() {
				if _, ok, err := parseEvent(document, netip.Addr{}); err != nil || !ok {
					b.Fatal(ok, err)
				}
			}
			b.ReportMetric(float64(doortest.CPU()-began)/float64(b.N), "cpu-ns/op")
		})
	}
}

// BenchmarkContext is what the context of an event costs: parser and rules, for a
// project that keeps all and one that keeps nothing of it.
func BenchmarkContext(b *testing.B) {
	var rules ingest.Rules
	source := ingest.Source{Project: 7, Received: time.Date(2026, 11, 21, 3, 19, 0, 0, time.UTC), UserKey: make([]byte, 32)}
	nothing := projects.Context{NoSourceLines: true, NoBreadcrumbs: true, NoExtra: true, Vars: projects.VarsOff}
	for name, document := range map[string][]byte{
		"django": largeEvent(b), "node": recordedEvent(b, "sentry-node-exception.http"), "go": recordedEvent(b, "sentry-go-exception.http"),
	} {
		for kept, keep := range map[string]projects.Context{"all": {}, "nothing": nothing, "values": {Vars: projects.VarsValues}} {
			b.Run(name+"/"+kept, func(b *testing.B) {
				source.Context = keep
				b.ReportAllocs()
				began := doortest.CPU()
				var event errata.Event
				for b.Loop() {
					draft, ok, err := parseEvent(document, netip.Addr{})
					if err != nil || !ok {
						b.Fatal(ok, err)
					}
					if event, _ = rules.Event(&draft, source, errata.EventID{}); event.Payload == nil {
						b.Fatal("no event")
					}
				}
				b.ReportMetric(float64(doortest.CPU()-began)/float64(b.N), "cpu-ns/op")
				b.ReportMetric(float64(len(event.Payload)), "payload-bytes")
			})
		}
	}
}
