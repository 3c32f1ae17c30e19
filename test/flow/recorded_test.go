package flow

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/test/servicetest"
)

var update = flag.Bool("update", false, "write the golden files anew; then read them line by line")

// recordings are the files of recorded requests in the order of their time, with
// the time at which the service receives them: shortly after they were sent,
// because the times of a client whose clock is wrong are corrected.
var recordings = []struct{ file, received string }{
	{"sentry/testdata/sentry-go-exception.http", "2026-11-21T03:18:41Z"},
	{"sentry/testdata/sentry-go-message-panic.http", "2026-11-21T03:18:41Z"},
	{"sentry/testdata/sentry-go-slog-log-item.http", "2026-11-21T03:18:41Z"},
	{"otlp/testdata/otel-go-logs.pb", "2026-11-21T03:18:41Z"},
	{"otlp/testdata/otel-go-traces.pb", "2026-11-21T03:18:41Z"},
	{"sentry/testdata/sentry-node-exception.http", "2026-11-21T03:19:53Z"},
	{"sentry/testdata/sentry-node-small-items.http", "2026-11-21T03:19:56Z"},
	{"sentry/testdata/sentry-python-store-gzip.http", "2026-11-21T03:19:56Z"},
	{"sentry/testdata/client-reports-after-errors.http", "2026-11-21T03:21:45Z"},
}

// roots are the folders in which the recorded applications were installed.
var roots = []string{"/srv/app", "/srv/shop"}

// TestRecordedRequests sends recorded requests of real SDKs and compares the
// records field by field. Every request has a project of its own, so that none is
// folded into another's record.
func TestRecordedRequests(t *testing.T) {
	clock := servicetest.NewClock(at(t, recordings[0].received), time.Microsecond)
	s := start(t, func(o *app.Options) { o.InstallRoots, o.Now = roots, clock.Now })
	everyRecordingIsListed(t)
	// While the clock is near the time of these recordings.
	t.Run("ways in", func(t *testing.T) { everyWayInGivesTheSame(t, s) })
	t.Run("OTLP", func(t *testing.T) { everyFormOfOTLPGivesTheSame(t, s) })
	var lines, payloads strings.Builder
	project := 100
	for _, r := range recordings {
		clock.Forward(at(t, r.received))
		for i, request := range requests(t, r.file) {
			project++
			name := fmt.Sprintf("%s #%d", filepath.Base(r.file), i+1)
			a := s.replay(t, request, s.newKey(t, project))
			fmt.Fprintf(&lines, "%s: %d %s\n", name, a.status, a.body)
			for _, row := range s.newRecords(t) {
				d := s.checkBooks(t, row)
				fmt.Fprintf(&lines, "  %s\n", line(t, d))
				fmt.Fprintf(&payloads, "%s\n%s\n", name, indented(t, d.Payload))
			}
		}
	}
	compareGolden(t, "recorded.golden", lines.String())
	compareGolden(t, "payloads.golden", payloads.String())
	noSecretIn(t, lines.String()+payloads.String())
	t.Run("times", func(t *testing.T) { timesAreMended(t, s, clock) })
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	when, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return when
}

const ingestDir = "../../ingest"

func everyRecordingIsListed(t *testing.T) {
	t.Helper()
	listed := map[string]bool{}
	for _, r := range recordings {
		listed[filepath.Join(ingestDir, r.file)] = true
	}
	for _, pattern := range []string{"sentry/testdata/*.http", "otlp/testdata/*.pb"} {
		files, err := filepath.Glob(filepath.Join(ingestDir, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			if !listed[file] {
				t.Errorf("%s is not sent", file)
			}
		}
	}
}

// requests are the requests of a recording.
func requests(t *testing.T, name string) []doortest.Recording {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(ingestDir, name))
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(name) != ".pb" {
		all, err := doortest.Recordings(file)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return all
	}
	target := "/v1/logs"
	if strings.Contains(name, "traces") {
		target = "/v1/traces"
	}
	return []doortest.Recording{{Method: http.MethodPost, Target: target, Body: file,
		Header: http.Header{"Content-Type": {"application/x-protobuf"}, "Authorization": {"Bearer " + doortest.Token}}}}
}

// replay sends a recorded request as its client did, with the key and project of
// this service in the place of the recorded ones.
func (s *service) replay(t *testing.T, r doortest.Recording, k key) answer {
	t.Helper()
	a, err := s.send(s.request(t, r, k))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (s *service) request(t *testing.T, r doortest.Recording, k key) *http.Request {
	t.Helper()
	ours := strings.NewReplacer(
		doortest.PublicKey, k.public,
		"/api/"+strconv.Itoa(doortest.Project)+"/", "/api/"+strconv.Itoa(k.project)+"/",
		":8000/"+strconv.Itoa(doortest.Project)+`"`, ":8000/"+strconv.Itoa(k.project)+`"`,
		"Bearer "+doortest.Token, "Bearer "+k.text)
	content := []byte(ours.Replace(string(r.Body)))
	if r.Header.Get("Content-Encoding") == "gzip" {
		content = gzipped(t, content)
	}
	var body io.Reader = bytes.NewReader(content)
	if r.Chunked {
		body = io.MultiReader(body) // hides the length
	}
	req, err := http.NewRequestWithContext(t.Context(), r.Method, s.url+ours.Replace(r.Target), body)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range r.Header {
		for _, value := range values {
			req.Header.Add(name, ours.Replace(value))
		}
	}
	req.Host = r.Header.Get("Host")
	return req
}

// checkBooks looks for the record in both books: it must be in its own, the same
// as in the list, and not in the other.
func (s *service) checkBooks(t *testing.T, row record) detailed {
	t.Helper()
	d := s.detail(t, row.Signature, row.Type)
	if diff := cmp.Diff(row, d.record); diff != "" {
		t.Errorf("%s: the detail differs from the list (-list +detail):\n%s", row.Signature, diff)
	}
	other := map[string]string{"system": "database", "database": "system"}[row.Type]
	a := s.do(t, http.MethodGet, listPath+"/"+row.Signature+"?type="+other, "", "Authorization", "Bearer "+s.admin)
	if a.status != http.StatusNotFound || !strings.Contains(a.body, `"code":"not_found"`) {
		t.Errorf("%s in the other book: %d %s, want 404 not_found", row.Signature, a.status, a.body)
	}
	for _, book := range []string{row.Type, other} {
		_, at := s.list(t, "types="+book+"&signature="+row.Signature)
		if (at.Total == 1) != (book == row.Type) {
			t.Errorf("%s: %d times in the list of book %s", row.Signature, at.Total, book)
		}
	}
	return d
}

// payload is the part of a payload that the tests read; the golden file has the
// whole.
type payload struct {
	Source      string `json:"source"`
	EventID     string `json:"event_id"`
	Message     string `json:"message"`
	Release     string `json:"release"`
	Environment string `json:"environment"`
	Exceptions  []struct {
		Class   string `json:"class"`
		Message string `json:"message"`
	} `json:"exceptions"`
	Tags map[string]string `json:"tags"`
}

func payloadOf(t *testing.T, d detailed) (p payload) {
	t.Helper()
	if err := json.Unmarshal(d.Payload, &p); err != nil {
		t.Fatalf("%v in %s", err, d.Payload)
	}
	return p
}

// line is a record as one line of readable facts. Ids that the service makes are
// left out, because clients do not depend on them.
func line(t *testing.T, d detailed) string {
	t.Helper()
	p := payloadOf(t, d)
	links := 0
	for _, e := range p.Exceptions {
		if e.Class != "" || e.Message != "" {
			links++
		}
	}
	if strings.Contains(p.EventID, "-") {
		p.EventID = ""
	}
	const millis = "2006-01-02T15:04:05.000Z"
	return fmt.Sprintf("type=%s level=%s count=%d class=%q file=%q line=%d message=%q uri=%q method=%q user_id=%d ip=%q first_seen=%s last_seen=%s status=%s"+
		" | source=%s event_id=%s message=%q release=%q env=%q links=%d",
		d.Type, d.Level, d.Count, d.ExceptionClass, d.File, d.Line, d.MessagePreview, d.RequestURI, d.RequestMethod, d.UserID, d.IP,
		d.FirstSeen.Format(millis), d.LastSeen.Format(millis), d.Status,
		p.Source, p.EventID, p.Message, p.Release, p.Environment, links)
}

// noSecretIn looks for secrets of the recordings: a token in a query, cookies, an
// authorization, a mail address, and values of variables.
func noSecretIn(t *testing.T, text string) {
	t.Helper()
	for _, secret := range []string{
		"token=secret", "sid=", "Bearer ", "user@example.test", "Cookie", "Authorization", "functools.partial", doortest.PublicKey,
	} {
		if strings.Contains(text, secret) {
			t.Errorf("%q stands in a record", secret)
		}
	}
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
