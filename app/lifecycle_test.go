package app_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/test/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// startTimeout is far above what a start takes; it says "never".
const startTimeout = 60 * time.Second

// testOptions are those of a service with embedded engines on a free port.
func testOptions(t *testing.T) app.Options {
	t.Helper()
	o := app.DefaultOptions()
	o.Data = filepath.Join(t.TempDir(), "data")
	o.Listen = "127.0.0.1:0"
	o.EngineBinary = testenv.EngineBinary(t)
	o.LogMaxBytes = 64 << 20
	o.NewRecordsPerHour = 0 // the log begins with what the test puts there
	o.AdminRateLimit = 0    // the tests ask often
	o.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	return o
}

// build makes a service that is stopped when the test ends. Its first start finds
// the empty tables; those of [first] make them.
func build(t *testing.T, o app.Options) *app.App {
	t.Helper()
	if o.NATSLeaf == "" && o.ClickHouseDSN == "" { // or it has no tables of its own
		testenv.Seed(t, o.Data)
	}
	return first(t, o)
}

// first is build for a test of the first start, which begins with nothing.
func first(t *testing.T, o app.Options) *app.App {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	a, err := app.New(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(context.Background()); err != nil {
			t.Errorf("stop: %v", err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return a
}

// run serves until the returned function is called, which returns what Run did.
func run(t *testing.T, a *app.App) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		http.DefaultClient.CloseIdleConnections()
		return <-ended
	})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("run: %v", err)
		}
	})
	return stop
}

func TestServiceStartsAndStops(t *testing.T) {
	o := testOptions(t)
	began := time.Now()
	a := first(t, o)
	t.Logf("first start: %v", time.Since(began))
	stop := run(t, a)
	for path, want := range map[string]string{"/healthz": "ok", "/readyz": "ready", "/metrics": "errata_log_max_bytes"} {
		status, body := get(t, a.Welcome().URL+path, "")
		if status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: got %d %s, want 200 and %q", path, status, body, want)
		}
	}
	holder, err := datadir.HolderOf(o.Data)
	if err != nil || holder.URL != a.Welcome().URL || holder.PID != os.Getpid() {
		t.Errorf("holder: got %+v, %v, want this process at %s", holder, err, a.Welcome().URL)
	}
	began = time.Now()
	if err := stop(); err != nil {
		t.Errorf("run: got %v, want a clean end", err)
	}
	t.Logf("stop: %v", time.Since(began))
	if _, err := net.Dial("tcp", a.Addr().String()); err == nil {
		t.Error("the address still answers")
	}
	if _, err := datadir.HolderOf(o.Data); !errors.Is(err, datadir.ErrNotRunning) {
		t.Errorf("holder after the end: %v, want ErrNotRunning", err)
	}
	if err := a.Stop(t.Context()); err != nil {
		t.Errorf("second stop: %v", err)
	}
	if err := a.Run(t.Context()); err != nil {
		t.Errorf("run after the stop: %v, want an end at once", err)
	}
}

func TestStopBeforeRun(t *testing.T) {
	o := testOptions(t)
	a := build(t, o)
	var stops sync.WaitGroup
	for range 3 { // at the same time, and each waits for the end
		stops.Go(func() {
			if err := a.Stop(t.Context()); err != nil {
				t.Errorf("stop: %v", err)
			}
			if _, err := datadir.HolderOf(o.Data); !errors.Is(err, datadir.ErrNotRunning) {
				t.Errorf("stopped, and the data folder is still held: %v", err)
			}
		})
	}
	stops.Wait()
}

func TestTwoServicesOnOneFolder(t *testing.T) {
	o := testOptions(t)
	a := build(t, o)
	second, err := app.New(t.Context(), o)
	var inUse *datadir.InUseError
	if second != nil || !errors.As(err, &inUse) || inUse.Holder.URL != a.Welcome().URL {
		t.Errorf("got %v, %v; want an InUseError that names %s", second, err, a.Welcome().URL)
	}
	// The first one is not disturbed.
	run(t, a)
	if status, body := get(t, a.Welcome().URL+"/readyz", ""); status != http.StatusOK {
		t.Errorf("first service: %d %s", status, body)
	}
}

func TestTwoServicesAtOnce(t *testing.T) {
	a, b := build(t, testOptions(t)), build(t, testOptions(t))
	run(t, a)
	run(t, b)
	for _, service := range []*app.App{a, b} {
		if status, body := get(t, service.Welcome().URL+"/readyz", ""); status != http.StatusOK {
			t.Errorf("%s: %d %s", service.Addr(), status, body)
		}
	}
	if a.Welcome().DSN == b.Welcome().DSN {
		t.Error("two services have the same DSN")
	}
}

// TestStartThatFails lets starts fail at different steps. Nothing is left of them: the
// next start can use the folder, and goleak finds no goroutine.
func TestStartThatFails(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		name   string
		change func(o *app.Options)
		want   string
	}{
		{"wrong option", func(o *app.Options) { o.Listen = "nonsense" }, "listen:"},
		{"data folder is a file", func(o *app.Options) { o.Data = os.Args[0] }, os.Args[0]},
		{"no library", func(o *app.Options) { o.LibCHDB = "/nowhere/libchdb.so" }, "/nowhere/libchdb.so"},
		{"no engine", func(o *app.Options) { o.EngineBinary = "/nowhere/errata-engine" }, "/nowhere/errata-engine"},
		{"port in use", func(o *app.Options) { o.Listen = taken.Addr().String() },
			"listen: something else has the port of " + taken.Addr().String() + ", perhaps another Errata; end it, or choose another address with --listen or ERRATA_LISTEN"},
		{"port of OTLP in use", func(o *app.Options) { o.OTLPListen = taken.Addr().String() }, "otlp-listen: something else has the port of " + taken.Addr().String()},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := testOptions(t)
			folder := o.Data
			c.change(&o)
			a, err := app.New(t.Context(), o)
			if a != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, %v; want an error with %q", a, err, c.want)
			}
			if _, err := datadir.HolderOf(folder); !errors.Is(err, datadir.ErrNotRunning) {
				t.Errorf("the data folder is held: %v", err)
			}
		})
	}
}

func TestStartThatIsStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := testOptions(t)
	if a, err := app.New(ctx, o); a != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v; want the context's error", a, err)
	}
	// The folder can be used again.
	build(t, o)
}

// get asks with a key, "" for none.
func get(t *testing.T, url, key string) (status int, body string) {
	t.Helper()
	return request(t, http.MethodGet, url, key, "")
}

func request(t *testing.T, method, url, key, body string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}
