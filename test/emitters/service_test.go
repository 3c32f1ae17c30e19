//go:build clients

package emitters

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/errata-log/errata/test/servicetest"
)

// never is far longer than any wait here.
const never = 60 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service is a running service behind a proxy that can fail.
type service struct {
	*servicetest.Service
	front *httptest.Server

	mu       sync.Mutex
	failures int // how many requests are still answered with 503, after they were passed on
}

func start(t *testing.T) *service {
	t.Helper()
	s := &service{Service: servicetest.Start(t, filepath.Join(t.TempDir(), "data"))}
	s.front = httptest.NewServer(http.HandlerFunc(s.pass))
	t.Cleanup(s.front.Close)
	return s
}

// pass passes a request to the service and returns its answer, or a failure: the
// sender cannot know that the service has the events.
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
	maps.Copy(w.Header(), resp.Header)
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

// dsn leads through the proxy.
func (s *service) dsn(t *testing.T) string {
	t.Helper()
	return s.DSN(t, s.front.URL)
}

// record is the tested part of a record.
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

// wait returns the record of a class when its count is reached.
func (s *service) wait(t *testing.T, class string, count uint64) record {
	t.Helper()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	late := time.After(never)
	for {
		var list []record
		s.GetData(t, listPath+"?exception_class="+url.QueryEscape(class), &list)
		if len(list) > 0 && list[0].Count >= count {
			var detail record
			s.GetData(t, listPath+"/"+list[0].Signature+"?type="+list[0].Type, &detail)
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

// same reports the difference of two values.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
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

// run runs an application of testdata with the emitter and a DSN.
func run(t *testing.T, dsn, emitter string, command ...string) servicetest.Ran {
	t.Helper()
	return servicetest.Run(t, []string{"DSN=" + dsn, "EMITTER=" + absolute(t, emitter)}, command[0], command[1:]...)
}
