package sentry_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/rand"
	"encoding/base64"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/sentry"
)

const (
	// bombGrowth is how many bytes the process may grow for one request.
	bombGrowth = 64 << 20
	// bombSize is the size of a decompressed bomb: five times the limit.
	bombSize = 512 << 20
	// unit is the size of the parts of a bomb, so that the test does not compress
	// half a gigabyte.
	unit = 2 << 20
)

// bomb is a request that is small on the wire, or within every limit, and
// expensive to handle. Its body is made before the measurement begins.
type bomb struct {
	name, target, coding string
	body                 func(testing.TB) []byte
	want                 int
}

// refused is for bombs that get either 400 or 413.
const refused = 0

// packers compress a text alone, or a text and then unit blanks many times.
var packers = []struct {
	name, coding string
	writer       func(io.Writer) io.WriteCloser
	streams      bool // members may follow each other
}{
	{"gzip", "gzip", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }, true},
	{"zlib", "deflate", func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }, false},
	{"raw deflate", "deflate", func(w io.Writer) io.WriteCloser { z, _ := flate.NewWriter(w, 6); return z }, false},
	{"brotli", "br", func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, 1) }, false},
	{"zstd", "zstd", func(w io.Writer) io.WriteCloser {
		z, _ := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
		return z
	}, true},
}

func squeeze(t testing.TB, with func(io.Writer) io.WriteCloser, parts ...[]byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	z := with(&packed)
	for _, part := range parts {
		if _, err := z.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// blanks is a compressed body: a text, then blanks.
func blanks(t testing.TB, with func(io.Writer) io.WriteCloser, streams bool, text string) []byte {
	t.Helper()
	part := bytes.Repeat([]byte{' '}, unit)
	if !streams {
		return squeeze(t, with, []byte(text), part)
	}
	return append(squeeze(t, with, []byte(text), part), bytes.Repeat(squeeze(t, with, part), bombSize/unit)...)
}

// plain is a fixed body.
func plain(parts ...string) func(testing.TB) []byte {
	return func(testing.TB) []byte { return []byte(strings.Join(parts, "")) }
}

const eventItem = "{}\n{\"type\":\"event\"}\n"

func compressedBombs() []bomb {
	var all []bomb
	for _, p := range packers {
		for name, text := range map[string]string{
			"header": "", "event": eventItem, "attachment": "{}\n{\"type\":\"attachment\"}\n", "log": "{}\n{\"type\":\"log\"}\n",
			"item of a long length": "{}\n{\"type\":\"event\",\"length\":1048576}\n",
		} {
			all = append(all, bomb{p.name + " as the " + name, envelopeURL, p.coding, func(t testing.TB) []byte { return blanks(t, p.writer, p.streams, text) }, 413})
		}
		all = append(all,
			bomb{p.name + " at the old endpoint", storeURL, p.coding, func(t testing.TB) []byte { return blanks(t, p.writer, p.streams, `{"message":"m"`) }, 413},
			bomb{p.name + " in " + p.name, envelopeURL, p.coding, func(t testing.TB) []byte { return squeeze(t, p.writer, blanks(t, p.writer, p.streams, eventItem)) }, refused},
			bomb{p.name + " named twice", envelopeURL, p.coding + ", " + p.coding, func(t testing.TB) []byte { return squeeze(t, p.writer, blanks(t, p.writer, p.streams, eventItem)) }, 415},
			// Noise among the blanks keeps it under the ratio.
			bomb{p.name + " under the ratio, event", envelopeURL, p.coding, func(t testing.TB) []byte { return squeeze(t, p.writer, []byte(eventItem), noisy()) }, 413},
			bomb{p.name + " under the ratio, attachment", envelopeURL, p.coding, func(t testing.TB) []byte {
				return squeeze(t, p.writer, []byte("{}\n{\"type\":\"attachment\"}\n"), noisy())
			}, 200},
		)
	}
	return append(all,
		bomb{"zstd with a window of terabytes", envelopeURL, "zstd", plain("\x28\xb5\x2f\xfd\x00\xff\x00\x00\x00"), 413},
		bomb{"zstd of a gigabyte in one segment", envelopeURL, "zstd", plain("\x28\xb5\x2f\xfd\xa0\x00\x00\x00\x40\x00\x00\x00"), 413},
		bomb{"zlib in base64", storeURL, "", func(t testing.TB) []byte {
			return []byte(base64.StdEncoding.EncodeToString(blanks(t, packers[1].writer, false, "{")))
		}, 413},
	)
}

// noisy is a text that shrinks to about a fiftieth.
func noisy() []byte {
	random := mathrand.New(mathrand.NewPCG(1, 2))
	text := bytes.Repeat([]byte{' '}, unit)
	for at := 0; at+10 < len(text); at += 500 {
		for i := range 10 {
			text[at+i] = 'a' + byte(random.Uint32()%26)
		}
	}
	return text
}

func plainBombs() []bomb {
	deep := func(open string, n int) string { return strings.Repeat(open, n) }
	log := `{"level":"error","body":"b"}`
	large := eventItem[3:] + strings.Repeat(" ", ingest.MaxEvent-len(event)) + event + "\n"
	return []bomb{
		{"500,000 open lists", envelopeURL, "", plain(eventItem, `{"extra":`, deep("[", 500_000)), 400},
		{"5,000,000 open lists", envelopeURL, "", plain(eventItem, `{"extra":`, deep("[", 5_000_000)), 413},
		{"200,000 objects in each other", storeURL, "", plain(`{"extra":`, deep(`{"a":`, 200_000), "1", deep("}", 200_000), "}"), 413},
		{"100,000 lists in each other", storeURL, "", plain(`{"extra":`, deep("[", 100_000), deep("]", 100_000), "}"), 400},
		{"100,000 lists as a parameter", storeURL, "", plain(`{"logentry":{"message":"%s","params":`, deep("[", 100_000), deep("]", 100_000), "}}"), 400},
		{"500,000 open lists in a log", envelopeURL, "", plain("{}\n{\"type\":\"log\"}\n", `{"items":`, deep("[", 500_000)), 400},
		{"500,000 open lists in a header", envelopeURL, "", plain(`{"trace":`, deep("[", 500_000)), 413},
		{"8,000 open lists in a header", envelopeURL, "", plain(`{"trace":`, deep("[", 8000), "\n"), 400},
		{"9,000 lists in each other", storeURL, "", plain(`{"message":"m","extra":`, deep("[", 9000), deep("]", 9000), "}"), 200},
		{"a million digits", storeURL, "", plain(`{"message":"m","user":{"id":`, deep("9", 1_000_000), `}}`), 200},
		{"two million digits", storeURL, "", plain(`{"message":"m","user":{"id":`, deep("9", 2_000_000), `}}`), 413},
		{"a number beyond all", storeURL, "", plain(`{"message":"m","timestamp":1e999999999,"level":1e999999999}`), 200},
		{"a million digits as a length", envelopeURL, "", plain("{}\n{\"type\":\"event\",\"length\":", deep("9", 1_000_000), "}\n", event), 413},
		{"a million characters", storeURL, "", plain(`{"message":"`, deep("é", 500_000), `"}`), 200},
		{"a million escapes", storeURL, "", plain(`{"message":"`, deep(`\u0001`, 170_000), `"}`), 200},
		{"two million characters", storeURL, "", plain(`{"message":"`, deep("x", 2_000_000), `"}`), 413},
		{"500,000 numbers in a list", storeURL, "", plain(`{"message":"m","fingerprint":[`, deep("1,", 500_000), `1]}`), 200},
		{"a million numbers in a list", storeURL, "", plain(`{"message":"m","fingerprint":[`, deep("1,", 1_000_000), `1]}`), 413},
		{"60,000 parameters", storeURL, "", plain(`{"logentry":{"message":"`, deep("%s", 60_000), `","params":[`, deep(`"aaaaaaaaaa",`, 60_000), `1]}}`), 200},
		{"10,000 items", envelopeURL, "", plain("{}", deep("\n{\"type\":\"event\"}\n"+event, 10_000)), 413},
		{"10,000 logs", envelopeURL, "", plain("{}\n{\"type\":\"log\"}\n{\"items\":[", deep(log+",", 10_000), log, "]}"), 413},
		{"100 events of a megabyte", envelopeURL, "gzip", func(t testing.TB) []byte {
			return squeeze(t, packers[0].writer, []byte("{}\n"), bytes.Repeat([]byte(large), 100))
		}, 413},
		{"100,000 reports", envelopeURL, "", plain("{}\n{\"type\":\"client_report\"}\n{\"discarded_events\":[", deep(`{"reason":"send_error","quantity":1},`, 100_000), "1]}"), 413},
		{"a header line of 10 MiB", envelopeURL, "", plain(`{"dsn":"`, deep("x", 10<<20), `"}`), 413},
		{"an item header of 10 MiB", envelopeURL, "", plain("{}\n{\"type\":\"", deep("x", 10<<20), "\"}"), 413},
		{"a body of 21 MiB", envelopeURL, "", plain("{}\n{\"type\":\"attachment\"}\n", deep("x", 21<<20)), 413},
		{"an announced length of 2^63-1", envelopeURL, "", plain("{}\n{\"type\":\"event\",\"length\":9223372036854775807}\n", event), 413},
	}
}

// pipelineHandler is the receiver before the real pipeline, with a log that keeps
// nothing.
func pipelineHandler(t testing.TB) *sentry.Handler {
	t.Helper()
	pipeline, err := ingest.New(ingest.Config{Log: forgetful{}, Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	h, _ := newHandler(t, func(c *sentry.Config) { c.Accepter = pipeline })
	return h
}

type forgetful struct{}

func (forgetful) Append(context.Context, []errata.Event) error { return nil }

// growth is how many bytes of memory the process took from the system while do
// ran, at most.
func growth(do func()) int64 {
	debug.FreeOSMemory() // collects, too
	debug.FreeOSMemory() // twice, because a pool frees its items in two steps
	before := resident()
	peak, stop, ended := before, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
				peak = max(peak, resident())
				runtime.Gosched()
			}
		}
	}()
	do()
	close(stop)
	<-ended
	return max(peak, resident()) - before
}

// resident is the memory that the runtime holds.
func resident() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64()) - int64(sample[1].Value.Uint64())
}

// TestBombsBeforeTheBody: a server with the receiver behind it stops endless
// headers, and a body that does not come.
func TestBombsBeforeTheBody(t *testing.T) {
	server := httptest.NewUnstartedServer(pipelineHandler(t))
	server.Config.MaxHeaderBytes = 16 << 10
	server.Config.ReadTimeout = 200 * time.Millisecond
	server.Start()
	defer server.Close()
	head := "POST " + envelopeURL + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
	for _, c := range []struct{ name, request, want string }{
		{"one long header", head + "X-Sentry-Auth: Sentry " + strings.Repeat("sentry_key=x,", 10_000) + "\r\n\r\n", "HTTP/1.1 431 "},
		{"many headers", head + strings.Repeat("Content-Encoding: identity\r\n", 10_000) + "\r\n", "HTTP/1.1 431 "},
		{"many codings", head + "Content-Length: 0\r\nContent-Encoding: " + strings.Repeat("gzip,", 2000) + "\r\n\r\n", "HTTP/1.1 415 "},
		{"a long key", head + "Content-Length: 0\r\nX-Sentry-Auth: Sentry sentry_key=" + strings.Repeat("a", 8000) + "\r\n\r\n", "HTTP/1.1 400 "},
		{"a body that stays away", head + "Content-Length: 1000\r\n\r\n" + eventItem, "HTTP/1.1 400 "},
		{"chunks that stay away", head + "Transfer-Encoding: chunked\r\n\r\n5\r\n{}\n{\"\r\n", "HTTP/1.1 400 "},
	} {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, c.request) // fails if the server has closed; its answer is read below
		answer, _ := io.ReadAll(conn)
		if !strings.HasPrefix(string(answer), c.want) {
			t.Errorf("%s: answered %.100q, want %s", c.name, answer, c.want)
		}
		_ = conn.Close()
	}
}
