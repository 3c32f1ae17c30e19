package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/ingest/native"
	"github.com/errata-log/errata/ingest/sentry"
)

// blocksOnly encodes events into blocks, as the appender does, and drops them.
type blocksOnly struct{}

func (blocksOnly) Append(_ context.Context, events []errata.Event) error {
	for len(events) > 0 {
		n := min(len(events), 250) // so many are about a full block
		if _, err := eventlog.EncodeBlock(events[:n]); err != nil {
			return err
		}
		events = events[n:]
	}
	return nil
}

// noAnswer drops the answer and keeps its status.
type noAnswer struct {
	header http.Header
	code   int
}

func (w *noAnswer) Header() http.Header         { return w.header }
func (w *noAnswer) Write(p []byte) (int, error) { return len(p), nil }
func (w *noAnswer) WriteHeader(code int)        { w.code = code }

// strangers are requests whose events share no text but words with each other, so that
// nothing that was remembered of one helps with the next: the worst case.
func strangers(requests, events int) (bodies [][]byte) {
	n := 0
	for range requests {
		lines := make([]string, events)
		for i := range lines {
			n++
			lines[i] = strings.NewReplacer(
				"Payment", fmt.Sprintf("Payment%d", n), "Kernel", fmt.Sprintf("Kernel%d", n), "index.php", fmt.Sprintf("index%d.php", n),
				"handle", fmt.Sprintf("handle%d", n), "charge", fmt.Sprintf("charge%d", n), "checkout", fmt.Sprintf("checkout%d", n),
				"main", fmt.Sprintf("main%d", n), "4711", fmt.Sprint(n), "129.90", fmt.Sprintf("%d.90", n), "sit amet", fmt.Sprintf("sit amet %d", n),
			).Replace(nativeEvent(i % 100))
		}
		bodies = append(bodies, []byte(strings.Join(lines, "\n")))
	}
	return bodies
}

// BenchmarkReceive is what an event costs from the bytes of its request to the bytes of
// its block: receiver, rules, encoding. Time, bytes and allocations are for one event.
func BenchmarkReceive(b *testing.B) {
	pipeline, err := ingest.New(ingest.Config{Log: blocksOnly{}, Random: rand.Reader})
	if err != nil {
		b.Fatal(err)
	}
	events, err := native.New(native.Config{Accepter: pipeline, Keyring: openKeyring{}, Budget: door.NewBudget(0)})
	if err != nil {
		b.Fatal(err)
	}
	envelopes, err := sentry.New(sentry.Config{Accepter: pipeline, Keyring: openKeyring{}, Budget: door.NewBudget(0)})
	if err != nil {
		b.Fatal(err)
	}
	header := http.Header{"Authorization": {"Bearer x"}, "X-Sentry-Auth": {"Sentry sentry_version=7, sentry_client=sentry.go/0.50.0, sentry_key=" + anyPublicKey}}
	for _, c := range []struct {
		name    string
		handler http.Handler
		path    string
		bodies  [][]byte
		events  int
	}{
		{"ndjson", events, "/api/v1/events", [][]byte{[]byte(ndjson(500))}, 500},
		{"strangers", events, "/api/v1/events", strangers(20, 500), 500},
		{"single", events, "/api/v1/events", [][]byte{[]byte(nativeEvent(7))}, 1},
		{"envelope", envelopes, "/api/1/envelope/", [][]byte{[]byte(sentryEnvelope(anyPublicKey))}, 1},
	} {
		b.Run(c.name, func(b *testing.B) {
			reader := bytes.NewReader(nil)
			request, err := http.NewRequest(http.MethodPost, c.path, nil)
			if err != nil {
				b.Fatal(err)
			}
			request.Header, request.Body, request.RemoteAddr = header, body{reader}, "127.0.0.1:4711"
			request.SetPathValue("project", "1")
			w := &noAnswer{header: http.Header{}}
			b.ReportAllocs()
			began := doortest.CPU()
			// Of a request with n events, only each n-th iteration sends one.
			for n := 0; b.Loop(); n++ {
				if n%c.events != 0 {
					continue
				}
				text := c.bodies[n/c.events%len(c.bodies)]
				reader.Reset(text)
				request.ContentLength = int64(len(text))
				if c.handler.ServeHTTP(w, request); w.code/100 != 2 {
					b.Fatal(w.code)
				}
			}
			b.ReportMetric(float64(doortest.CPU()-began)/float64(b.N), "cpu-ns/op")
		})
	}
}

type body struct{ *bytes.Reader }

func (body) Close() error { return nil }
