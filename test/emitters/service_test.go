//go:build clients

package emitters

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/internal/servicetest"
)

// never is far above what any wait here takes.
const never = 60 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service is a running service with a door in front that can fail.
type service struct {
	*servicetest.Service
	front *httptest.Server

	mu       sync.Mutex
	failures int // how many requests are still answered with 503, after they were passed on
	posts    int
}

func start(t *testing.T) *service {
	t.Helper()
	s := &service{Service: servicetest.Start(t, filepath.Join(t.TempDir(), "data"))}
	s.front = httptest.NewServer(http.HandlerFunc(s.pass))
	t.Cleanup(s.front.Close)
	return s
}

// pass hands a request to the service and answers with its answer, or with a
// failure: the sender cannot know that the service has it.
func (s *service) pass(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	req, err := servicetest.NewRequest(r.Method, s.URL+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	req.Header = r.Header.Clone()
	resp, text, err := servicetest.Send(s.HTTP, req)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posts++
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	if s.failures > 0 {
		s.failures--
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(resp.StatusCode)
	_, _ = io.WriteString(w, text)
}

func (s *service) fail(times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = times
}

// dsn leads through the door in front.
func (s *service) dsn(t *testing.T) string {
	t.Helper()
	front, err := url.Parse(s.front.URL)
	if err != nil {
		t.Fatal(err)
	}
	dsn, err := url.Parse(s.File(t, app.DSNFile))
	if err != nil {
		t.Fatal(err)
	}
	dsn.Host = front.Host
	return dsn.String()
}

// record is what is looked at of a record.
type record struct {
	Signature string  `json:"signature"`
	Type      string  `json:"type"`
	Level     string  `json:"level"`
	Count     uint64  `json:"count"`
	File      string  `json:"file"`
	Line      int     `json:"line"`
	Message   string  `json:"message_preview"`
	Class     string  `json:"exception_class"`
	URI       string  `json:"request_uri"`
	Payload   payload `json:"payload"`
}

type payload struct {
	Handled    *bool             `json:"handled"`
	Release    string            `json:"release"`
	SDK        string            `json:"sdk"`
	EventID    string            `json:"event_id"`
	Tags       map[string]string `json:"tags"`
	Exceptions []struct {
		Class, Message string
		Frames         []struct {
			File, Function string
			Line           int
			InApp          bool `json:"in_app"`
		}
	} `json:"exceptions"`
}

const listPath = "/api/v1/admin/tools/logs/errors"

// wait returns the record of a class once it was seen so many times.
func (s *service) wait(t *testing.T, class string, count uint64) record {
	t.Helper()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	late := time.After(never)
	for {
		var list []record
		s.get(t, "?exception_class="+url.QueryEscape(class), &list)
		if len(list) > 0 && list[0].Count >= count {
			var detail record
			s.get(t, "/"+list[0].Signature+"?type="+list[0].Type, &detail)
			if len(list) > 1 || detail.Count != count {
				t.Errorf("%s: %d records, the first seen %d times, want 1 seen %d times", class, len(list), detail.Count, count)
			}
			return detail
		}
		select {
		case <-poll.C:
		case <-late:
			t.Fatalf("%s: not seen %d times, but %+v", class, count, list)
		}
	}
}

func (s *service) get(t *testing.T, query string, into any) {
	t.Helper()
	req, err := servicetest.NewRequest(http.MethodGet, s.URL+listPath+query, nil, "Authorization", "Bearer "+s.Admin)
	if err != nil {
		t.Fatal(err)
	}
	resp, body, err := servicetest.Send(s.HTTP, req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v %s", err, body)
	}
	if err := json.Unmarshal([]byte(body), &struct{ Data any }{into}); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
}

// same reports where two values differ.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// place is the line of a file of testdata that is marked with "HERE name".
func place(t *testing.T, file, name string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasSuffix(line, "// HERE "+name) {
			return i + 1
		}
	}
	t.Fatalf("%s has no line for %s", file, name)
	return 0
}

// interpreter is the path of a program that the tests need.
func interpreter(t *testing.T, name, debianPackage string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is missing; install it (apt-get install -y %s), or run make test-clients", name, debianPackage)
	}
	return path
}

// absolute is a path below the repository's root.
func absolute(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// ran is what a program did.
type ran struct {
	output string // both
	code   int
	took   time.Duration
}

// run runs an application of testdata with the emitter and a DSN.
func run(t *testing.T, dsn, emitter string, command ...string) ran {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), never)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "DSN="+dsn, "EMITTER="+absolute(t, emitter), "NO_COLOR=1")
	began := time.Now()
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v", command, err)
	}
	t.Logf("%v: %d in %v\n%s", command[1:], cmd.ProcessState.ExitCode(), time.Since(began).Round(time.Millisecond), output)
	return ran{string(output), cmd.ProcessState.ExitCode(), time.Since(began)}
}
