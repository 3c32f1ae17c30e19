package flow

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/internal/openapitest"
	"github.com/errata-log/errata/internal/testenv"
)

// TestMain runs the tests, or, in a process that a test started, a service.
func TestMain(m *testing.M) {
	if data := os.Getenv(dataVariable); data != "" {
		os.Exit(serveAlone(data))
	}
	goleak.VerifyTestMain(m)
}

const (
	// startTimeout is far above what a start takes; it says "never".
	startTimeout = 60 * time.Second
	// requestTimeout is the same for one request.
	requestTimeout = 30 * time.Second
)

// service is a running service as its users see it.
type service struct {
	url  string
	data string
	http *http.Client
	// stop ends the service and returns what its Run did.
	stop func() error

	// process is set for a service that does not run in this one.
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
	journal := &journal{}
	o := options(data, testenv.EngineBinary(t), journal)
	for _, c := range configure {
		c(&o)
	}
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	a, err := app.New(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	s := &service{url: a.Welcome().URL, data: data, http: newHTTP()}
	s.http.Transport = openapitest.Transport(t, s.http.Transport)
	s.admin, s.ingest = s.file(t, app.AdminKeyFile), s.file(t, app.IngestKeyFile)
	s.stop = run(a, s.http)
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Errorf("run: %v", err)
		}
		journal.check(t)
	})
	return s
}

// options are those of every service here; log gets warnings and errors.
func options(data, engine string, log io.Writer) app.Options {
	o := app.DefaultOptions()
	o.Data = data
	o.Listen = "127.0.0.1:0"
	o.EngineBinary = engine
	o.LogMaxBytes = 256 << 20
	o.AdminRateLimit = 0 // the tests ask often
	o.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return o
}

// run serves until the returned function is called.
func run(a *app.App, client *http.Client) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }() // ends with stop
	return sync.OnceValue(func() error {
		cancel()
		client.CloseIdleConnections()
		err := <-ended
		client.CloseIdleConnections()
		return err
	})
}

// newHTTP is a client that sends what it is given and nothing of its own, and
// shows every answer as it came.
func newHTTP() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       requestTimeout,
	}
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

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

// try sends a request. The header is a list of names and values.
func (s *service) try(method, path string, body io.Reader, header ...string) (answer, error) {
	req, err := http.NewRequestWithContext(context.Background(), method, s.url+path, body)
	if err != nil {
		return answer{}, err
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return s.send(req)
}

func (s *service) send(req *http.Request) (answer, error) {
	resp, err := s.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(text)}, err
}

// do is try for a request that must be answered.
func (s *service) do(t *testing.T, method, path, body string, header ...string) answer {
	t.Helper()
	a, err := s.try(method, path, strings.NewReader(body), header...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// journal is the service's own log, from warnings upwards.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// check fails the test for every error and every panic that was logged.
func (j *journal) check(t *testing.T) {
	t.Helper()
	for line := range strings.Lines(j.String()) {
		if strings.Contains(line, "engine=clickhouse") && strings.Contains(line, "NETWORK_ERROR") {
			// ClickHouse says so when a query is given up, as a stop does.
			continue
		}
		if strings.Contains(line, "level=ERROR") || strings.Contains(line, "panic") {
			t.Errorf("the service logged: %.2000s", line)
		} else if t.Failed() {
			t.Logf("the service logged: %.2000s", line)
		}
	}
}

// clock is a service's clock, set by the test: it moves by a microsecond each
// time it is looked at, so that times grow and a slow machine changes nothing.
type clock struct {
	mu   sync.Mutex
	time time.Time
}

func newClock(at time.Time) *clock { return &clock{time: at} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.time = c.time.Add(time.Microsecond)
	return c.time
}

// forward sets the clock to a later time. One that has passed already leaves
// it alone: the clock never goes back.
func (c *clock) forward(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if to.After(c.time) {
		c.time = to
	}
}
