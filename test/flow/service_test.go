package flow

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/test/servicetest"
)

// TestMain runs the tests, or, in a process that a test started, a service.
func TestMain(m *testing.M) {
	if data := os.Getenv(dataVariable); data != "" {
		os.Exit(serveAlone(data))
	}
	goleak.VerifyTestMain(m)
}

// service is a running service, as its users see it.
type service struct {
	url  string
	data string
	http *http.Client
	// stop ends the service and returns the error of its Run.
	stop func() error

	// process is set when the service runs in another process.
	process *process

	admin, ingest string // keys of the first start

	seen uint64 // the highest record id that newRecords has returned
}

// start runs a service in a new data folder until the test ends. The test
// fails when the service logs an error.
func start(t *testing.T, configure ...func(*app.Options)) *service {
	t.Helper()
	return startIn(t, filepath.Join(t.TempDir(), "data"), configure...)
}

// startIn is start in a data folder that may hold an earlier service's data.
func startIn(t *testing.T, data string, configure ...func(*app.Options)) *service {
	t.Helper()
	s := servicetest.Start(t, data, configure...)
	return &service{url: s.URL, data: data, http: s.HTTP, stop: s.Stop, admin: s.Admin, ingest: s.Ingest}
}

// file is the text of a file below the data folder.
func (s *service) file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.data, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// answer is one answer.
type answer struct {
	status int
	header http.Header
	body   string
}

// try sends a request. The header is a list of names and values.
func (s *service) try(method, path string, body io.Reader, header ...string) (answer, error) {
	req, err := servicetest.NewRequest(method, s.url+path, body, header...)
	if err != nil {
		return answer{}, err
	}
	return s.send(req)
}

func (s *service) send(req *http.Request) (answer, error) {
	resp, text, err := servicetest.Send(s.http, req)
	if resp == nil {
		return answer{}, err
	}
	return answer{resp.StatusCode, resp.Header, text}, err
}

// do is try for a request that must get an answer.
func (s *service) do(t *testing.T, method, path, body string, header ...string) answer {
	t.Helper()
	a, err := s.try(method, path, strings.NewReader(body), header...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}
