package flow

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"

	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/test/servicetest"
)

// codings are the ways to compress a body.
var codings = []struct {
	name    string
	header  string // Content-Encoding
	checked bool   // a checksum ends the stream
	writer  func(w io.Writer) (io.WriteCloser, error)
}{
	{"gzip", "gzip", true, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }},
	{"zlib deflate", "deflate", true, func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil }},
	{"raw deflate", "deflate", false, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.DefaultCompression) }},
	{"brotli", "br", false, func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriter(w), nil }},
	{"zstd", "zstd", true, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)) }},
}

func gzipped(t *testing.T, content []byte) []byte { return packed(t, codings[0].writer, content) }

func packed(t *testing.T, writer func(w io.Writer) (io.WriteCloser, error), content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := writer(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// everyWayInGivesTheSame sends one recorded envelope in every form of
// authorization and encoding that SDKs use, and once more to the older endpoint,
// and expects the same record each time.
func everyWayInGivesTheSame(t *testing.T, s *service) {
	recorded := requests(t, "sentry/testdata/sentry-go-exception.http")[0]
	const auth = "X-Sentry-Auth"
	type change func(r *doortest.Recording)
	header := func(name, value string) change {
		return func(r *doortest.Recording) { r.Header.Del(auth); r.Header.Set(name, value) }
	}
	ways := []struct {
		name string
		change
	}{
		{"as recorded", func(*doortest.Recording) {}},
		{"no last slash", func(r *doortest.Recording) { r.Target = strings.TrimSuffix(r.Target, "/") }},
		{"key in the query", func(r *doortest.Recording) { r.Header.Del(auth); r.Target += "?sentry_key=" + doortest.PublicKey }},
		{"scheme in small letters, secret and blanks", header(auth, "sentry  sentry_secret=x , sentry_key="+doortest.PublicKey+" ,sentry_version=7")},
		{"Authorization: Sentry", header("Authorization", "Sentry sentry_version=7, sentry_key="+doortest.PublicKey)},
		{"only the DSN of the envelope", func(r *doortest.Recording) { r.Header.Del(auth) }},
		{"query before a wrong header", func(r *doortest.Recording) {
			r.Header.Set(auth, "Sentry sentry_key="+strings.Repeat("0", 32))
			r.Target += "?sentry_key=" + doortest.PublicKey
		}},
		{"chunked", func(r *doortest.Recording) { r.Chunked = true }},
		{"no content type", func(r *doortest.Recording) { r.Header.Del("Content-Type") }},
		{"content type of a browser", func(r *doortest.Recording) { r.Header.Set("Content-Type", "text/plain;charset=UTF-8") }},
		{"stored", func(r *doortest.Recording) {
			lines := bytes.SplitN(r.Body, []byte("\n"), 4)
			r.Target, r.Body = "/api/7/store/", lines[2]
		}},
	}
	var want []string
	for i, way := range ways {
		request := recorded
		request.Header = recorded.Header.Clone()
		way.change(&request)
		got := s.lines(t, s.request(t, request, s.newKey(t, 200+i)))
		if want == nil {
			want = got
		}
		if len(got) != 1 || !cmp.Equal(want, got) {
			t.Errorf("%s: got %q, want %q", way.name, got, want)
		}
	}
	for i, c := range codings {
		k := s.newKey(t, 300+i)
		req := s.request(t, recorded, k)
		content, err := io.ReadAll(req.Body)
		if err != nil {
			t.Fatal(err)
		}
		encoded := packed(t, c.writer, content)
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(encoded)), int64(len(encoded))
		req.Header.Set("Content-Encoding", c.header)
		if got := s.lines(t, req); !cmp.Equal(want, got) {
			t.Errorf("%s: got %q, want %q", c.name, got, want)
		}
	}
}

// lines sends the request and returns its records as lines.
func (s *service) lines(t *testing.T, req *http.Request) (lines []string) {
	t.Helper()
	a, err := s.send(req)
	if err != nil {
		t.Fatal(err)
	}
	if a.status != http.StatusOK {
		t.Errorf("%s: %d %s", req.URL.Path, a.status, a.body)
	}
	for _, row := range s.newRecords(t) {
		lines = append(lines, line(t, s.detail(t, row.Signature, row.Type)))
	}
	return lines
}

// everyFormOfOTLPGivesTheSame sends the recorded exports compressed and as JSON,
// and the log records one by one, because two of them are one problem and the
// record shows only the first.
func everyFormOfOTLPGivesTheSame(t *testing.T, s *service) {
	project := 400
	for _, name := range []string{"otel-go-logs", "otel-go-traces"} {
		var want []string
		for _, form := range []struct {
			file, contentType, coding string
			dsn                       bool // by the path and the key of a DSN
		}{
			{name + ".pb", "application/x-protobuf", "", false},
			{name + ".pb", "application/x-protobuf", "gzip", false},
			{name + ".json", "application/json", "", false},
			{name + ".json", "application/json; charset=utf-8", "gzip", false},
			{name + ".pb", "application/x-protobuf", "", true},
			{name + ".json", "application/json", "gzip", true},
		} {
			project++
			request := requests(t, "otlp/testdata/"+name+".pb")[0]
			request.Body = contentOf(t, "otlp/testdata/"+form.file)
			request.Header.Set("Content-Type", form.contentType)
			if form.coding != "" {
				request.Header.Set("Content-Encoding", form.coding)
			}
			if form.dsn {
				request.Target = "/api/7/integration/otlp" + request.Target
				request.Header.Del("Authorization")
				request.Header.Set("X-Sentry-Auth", "Sentry sentry_version=7, sentry_key="+doortest.PublicKey)
			}
			got := s.lines(t, s.request(t, request, s.newKey(t, project)))
			if want == nil {
				want = got
			}
			if len(got) == 0 || !cmp.Equal(want, got) {
				t.Errorf("%+v: got %q, want %q", form, got, want)
			}
		}
	}
	var got strings.Builder
	for i, single := range singleLogs(t) {
		project++
		request := requests(t, "otlp/testdata/otel-go-logs.pb")[0]
		request.Body = single
		request.Header.Set("Content-Type", "application/json")
		fmt.Fprintf(&got, "otel-go-logs record %d\n", i+1)
		for _, line := range s.lines(t, s.request(t, request, s.newKey(t, project))) {
			fmt.Fprintf(&got, "  %s\n", line)
		}
	}
	compareGolden(t, "otel-single-logs.golden", got.String())
}

func contentOf(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(ingestDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// singleLogs are exports of one log record each.
func singleLogs(t *testing.T) (exports [][]byte) {
	t.Helper()
	type scoped struct {
		Scope      json.RawMessage   `json:"scope"`
		LogRecords []json.RawMessage `json:"logRecords"`
	}
	type resource struct {
		Resource  json.RawMessage `json:"resource"`
		ScopeLogs []scoped        `json:"scopeLogs"`
	}
	type export struct {
		ResourceLogs []resource `json:"resourceLogs"`
	}
	var whole export
	if err := json.Unmarshal(contentOf(t, "otlp/testdata/otel-go-logs.json"), &whole); err != nil {
		t.Fatal(err)
	}
	for _, r := range whole.ResourceLogs {
		for _, sc := range r.ScopeLogs {
			for _, record := range sc.LogRecords {
				text, err := json.Marshal(export{[]resource{{r.Resource, []scoped{{sc.Scope, []json.RawMessage{record}}}}}})
				if err != nil {
					t.Fatal(err)
				}
				exports = append(exports, text)
			}
		}
	}
	return exports
}

// timesAreMended sends with wrong clocks: the time of an event is corrected by
// the offset of the client's clock, and an impossible time is replaced by that of
// the receipt.
func timesAreMended(t *testing.T, s *service, c *servicetest.Clock) {
	recorded := requests(t, "sentry/testdata/sentry-go-exception.http")[0]
	c.Forward(at(t, "2026-11-21T05:00:00Z"))
	happened, sent := at(t, "2026-11-21T03:18:40.608610492Z"), at(t, "2026-11-21T03:18:40.608881045Z")
	before := c.Now()
	if a := s.replay(t, recorded, s.newKey(t, 500)); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	after := c.Now()
	rows := s.newRecords(t)
	if len(rows) != 1 {
		t.Fatalf("%d records, want 1", len(rows))
	}
	// Sending took 0.27 ms by the client's clock, whatever its offset, which is known to a second.
	ago := sent.Sub(happened)
	checkBetween(t, "client's clock behind", rows[0].FirstSeen, before.Add(-ago-time.Second), after.Add(-ago))

	k := s.newKey(t, 501)
	native := func(name, time string) (answer, []record) {
		a := s.do(t, http.MethodPost, "/api/v1/events", fmt.Sprintf(`{"message":"m","exception_class":%q,"time":%q}`, "Clock "+name, time),
			"Authorization", "Bearer "+k.text)
		return a, s.newRecords(t)
	}
	for name, time := range map[string]string{
		"a clock that was never set": "1980-01-06T00:00:00Z", "an hour ahead": c.Now().Add(time.Hour).Format(time.RFC3339Nano),
		"no time": "yesterday", "none": "",
	} {
		before := c.Now()
		a, rows := native(name, time)
		if a.status != http.StatusAccepted || len(rows) != 1 {
			t.Errorf("%s: %d %s, %d records", name, a.status, a.body, len(rows))
			continue
		}
		checkBetween(t, name, rows[0].FirstSeen, before, c.Now())
		if rows[0].LastSeen != rows[0].FirstSeen {
			t.Errorf("%s: first seen %v, last seen %v", name, rows[0].FirstSeen, rows[0].LastSeen)
		}
	}
	late := c.Now().Add(-290 * 24 * time.Hour).UTC().Truncate(time.Millisecond)
	if _, rows := native("late", late.Format(time.RFC3339Nano)); len(rows) != 1 || !rows[0].FirstSeen.Equal(late) {
		t.Errorf("290 days old: got %+v, want first seen %v", rows, late)
	}
}

// checkBetween checks that a time, in milliseconds, is between two others.
func checkBetween(t *testing.T, name string, got, from, to time.Time) {
	t.Helper()
	if got.Before(from.Truncate(time.Millisecond)) || got.After(to) {
		t.Errorf("%s: got %v, want %v to %v", name, got, from, to)
	}
}
