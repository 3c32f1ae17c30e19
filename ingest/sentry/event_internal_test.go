package sentry

import (
	"bytes"
	"net/netip"
	"os"
	"testing"

	"github.com/errata-log/errata/ingest/body/door/doortest"
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
