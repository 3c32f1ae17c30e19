package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/test/servicetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	eventsPath   = "/api/v1/events"
	errorsPath   = "/api/v1/admin/tools/logs/errors"
	cleanupPath  = errorsPath + "/cleanup"
	statusPath   = errorsPath + "/status"
	rebuildPath  = errorsPath + "/rebuild"
	settingsPath = "/api/v1/admin/tools/logs/settings"
	keysPath     = "/api/v1/admin/keys"
)

// service is a running service with a clock that stands still, so that the test
// knows when everything was received.
type service struct {
	*servicetest.Service
	now time.Time
	// retention is for how many days the first project keeps records, 0 for ever.
	retention int
}

// start runs a service until the test ends. Its clock is set to the present,
// because ClickHouse deletes old hours by the machine's clock.
func start(t *testing.T, configure ...func(*app.Options)) *service {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Millisecond)
	clock := servicetest.NewClock(now, 0)
	configure = append(configure, func(o *app.Options) { o.Now = clock.Now })
	return &service{servicetest.Start(t, filepath.Join(t.TempDir(), "data"), configure...), now, 0}
}

// request is one request; the zero key is the administrator's, "-" is none.
type request struct {
	method, path, body string
	key                string
	header             []string // names and values
}

func (r request) String() string { return fmt.Sprintf("%s %s %.300s", r.method, r.path, r.body) }

// answer is one answer.
type answer struct {
	status int
	header http.Header
	body   string
}

// do sends a request, which must get an answer.
func (s *service) do(t *testing.T, r request) answer {
	t.Helper()
	header := r.header
	switch r.key {
	case "":
		header = append([]string{"Authorization", "Bearer " + s.Admin}, header...)
	case "-":
	default:
		header = append([]string{"Authorization", "Bearer " + r.key}, header...)
	}
	if r.body != "" && !strings.Contains(strings.Join(header, " "), "Content-Type") {
		header = append([]string{"Content-Type", "application/json"}, header...)
	}
	req, err := servicetest.NewRequest(r.method, s.URL+r.path, strings.NewReader(r.body), header...)
	if err != nil {
		t.Fatal(err)
	}
	resp, body, err := servicetest.Send(s.HTTP, req)
	if err != nil {
		t.Fatalf("%s: %v", r, err)
	}
	return answer{resp.StatusCode, resp.Header, body}
}

// get returns the body of a successful answer.
func (s *service) get(t *testing.T, path string) string {
	t.Helper()
	return s.want(t, request{method: http.MethodGet, path: path}, "")
}

// want sends a request that must succeed, and compares the data of the answer
// with a JSON text, byte by byte; "" for any. It returns the data.
func (s *service) want(t *testing.T, r request, data string) string {
	t.Helper()
	a := s.do(t, r)
	var envelope map[string]json.RawMessage
	if err := json.Unmarshal([]byte(a.body), &envelope); err != nil || a.status != http.StatusOK || envelope["data"] == nil || envelope["error"] != nil {
		t.Fatalf("%s: %d %.2000s, want data", r, a.status, a.body)
	}
	if got := a.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("%s: content type %q", r, got)
	}
	got := string(envelope["data"])
	if data != "" && got != data {
		t.Errorf("%s:\n got %.2000s\nwant %.2000s", r, got, data)
	}
	return got
}

// failure is what the error envelope holds.
type failure struct {
	Code      string          `json:"code"`
	Message   string          `json:"message"`
	Details   json.RawMessage `json:"details"`
	RequestID string          `json:"request_id"`
}

// refused sends a request that must be refused, and checks the form of the
// envelope. Each of the words must be in message or details.
func (s *service) refused(t *testing.T, r request, status int, code string, words ...string) (failure, answer) {
	t.Helper()
	a := s.do(t, r)
	var envelope struct {
		Data  json.RawMessage
		Error failure
	}
	if err := json.Unmarshal([]byte(a.body), &envelope); err != nil {
		t.Fatalf("%s: %d %q: %v", r, a.status, a.body, err)
	}
	f := envelope.Error
	if a.status != status || f.Code != code || envelope.Data != nil {
		t.Errorf("%s: %d %s, want %d %s", r, a.status, a.body, status, code)
	}
	if !strings.HasSuffix(f.Message, ".") || f.RequestID == "" || f.RequestID != a.header.Get("X-Request-Id") || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("%s: %v %s, want a sentence and the request's id, as JSON", r, a.header, a.body)
	}
	for _, word := range words {
		if !strings.Contains(f.Message+string(f.Details), word) {
			t.Errorf("%s: %s %s does not say %q", r, f.Message, f.Details, word)
		}
	}
	return f, a
}

// oldest is the first time that is believed of an event of the first project.
func (s *service) oldest() time.Time {
	if s.retention == 0 {
		return firstTime
	}
	return s.now.Add(-time.Duration(s.retention) * 24 * time.Hour)
}

// adjusted is what the answer to events must say of their times: those that are not
// believed became the time of receipt.
func (s *service) adjusted(events []event) string {
	var told []string
	for i, e := range events {
		at, err := time.Parse(time.RFC3339Nano, e.Time)
		reason := ""
		switch at = at.Truncate(time.Millisecond); {
		case e.Time == "":
		case err != nil:
			reason = "unreadable"
		case at.After(s.now):
			reason = "in_future"
		case at.Before(s.oldest()):
			reason = "too_old"
		}
		if reason != "" {
			told = append(told, body("index", i, "field", "time", "reason", reason))
		}
	}
	return "[" + strings.Join(told, ",") + "]"
}

// send sends events to the native receiver; all must be accepted.
func (s *service) send(t *testing.T, events ...event) {
	t.Helper()
	const atOnce = 500
	for len(events) > 0 {
		n := min(atOnce, len(events))
		var lines strings.Builder
		for _, e := range events[:n] {
			line, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			lines.Write(line)
			lines.WriteByte('\n')
		}
		a := s.do(t, request{method: http.MethodPost, path: eventsPath, body: lines.String(), key: s.Ingest, header: []string{"Content-Type", "application/x-ndjson"}})
		if want := fmt.Sprintf(`{"data":{"accepted":%d,"rejected":[],"adjusted":%s}}`, n, s.adjusted(events[:n])); a.status != http.StatusAccepted || strings.TrimSpace(a.body) != want {
			t.Fatalf("send %d events: %d %.1000s, want %s", n, a.status, a.body, want)
		}
		events = events[n:]
	}
}

// settle returns when all events sent before are visible: a command is answered
// when everything before it in the log is visible. This one meets no record.
func (s *service) settle(t *testing.T) {
	t.Helper()
	s.want(t, request{method: http.MethodDelete, path: errorsPath, body: signaturesBody(strings.Repeat("0", 32))}, `{"count":0,"deleted":true}`)
}

// signaturesBody is the body of a delete.
func signaturesBody(signatures ...string) string { return body("signatures", signatures) }

// body is a JSON object of names and values, in their order.
func body(pairs ...any) string {
	var text strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		value, err := json.Marshal(pairs[i+1])
		if err != nil {
			panic(err) // texts, numbers and lists of them always encode
		}
		fmt.Fprintf(&text, ",%q:%s", pairs[i], value)
	}
	return "{" + strings.TrimPrefix(text.String(), ",") + "}"
}

// narrowKey makes an admin key with only these scopes.
func (s *service) narrowKey(t *testing.T, scopes ...string) string {
	t.Helper()
	a := s.do(t, request{method: http.MethodPost, path: keysPath, body: body("name", "narrow", "kind", "adm", "scopes", scopes)})
	var made struct {
		Data struct {
			Key string `json:"key"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(a.body), &made); err != nil || a.status != http.StatusCreated {
		t.Fatalf("make a key for %v: %d %s, %v", scopes, a.status, a.body, err)
	}
	return made.Data.Key
}
