package sentry_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/ingest/sentry"
)

// BenchmarkHandler is a whole request without the network and the pipeline:
// key, body, envelope, event, draft, answer.
func BenchmarkHandler(b *testing.B) {
	for _, name := range []string{
		"sentry-go-exception.http", "sentry-python-store-gzip.http", "sentry-node-exception.http", "sentry-node-small-items.http",
	} {
		b.Run(name, func(b *testing.B) {
			h, recorder := newHandler(b, func(c *sentry.Config) { c.Budget = door.NewBudget(0) })
			recorder.Discard = true
			r := replay(b, recordings(b, name)[0])
			content, err := io.ReadAll(r.Body)
			if err != nil {
				b.Fatal(err)
			}
			reader := bytes.NewReader(content)
			w := &nullWriter{header: http.Header{}}
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			began := doortest.CPU()
			for b.Loop() {
				reader.Reset(content)
				r.Body = io.NopCloser(reader)
				w.code = http.StatusOK
				h.ServeHTTP(w, r)
				if w.code != http.StatusOK {
					b.Fatal(w.code)
				}
			}
			b.ReportMetric(float64(doortest.CPU()-began)/float64(b.N), "cpu-ns/op")
		})
	}
}

// nullWriter drops the answer, so that the benchmark does not measure a buffer.
type nullWriter struct {
	header http.Header
	code   int
}

func (w *nullWriter) Header() http.Header         { return w.header }
func (w *nullWriter) Write(p []byte) (int, error) { return len(p), nil }
func (w *nullWriter) WriteHeader(code int)        { w.code = code }
