package flow

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/test/servicetest"
	"github.com/errata-log/errata/test/testenv"
)

// The environment variables that make a test process a service.
const (
	dataVariable   = "ERRATA_FLOW_DATA"
	engineVariable = "ERRATA_FLOW_ENGINE"
)

// startAlone is start in a process of its own, so that its memory is the
// service's and not the test's. The test fails when the process ends by itself or
// logs an error.
func startAlone(t *testing.T) *service {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log := &servicetest.Journal{}
	cmd := exec.Command(self)
	// Its collector works as the product's does, whatever the tests are told.
	cmd.Env = append(os.Environ(), "GOGC=", "GOMEMLIMIT=", dataVariable+"="+data, engineVariable+"="+testenv.EngineBinary(t))
	cmd.Stderr = log
	orders, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &service{data: data, http: servicetest.NewHTTP(), process: &process{orders, bufio.NewReader(answers)}}
	t.Cleanup(func() {
		s.http.CloseIdleConnections()
		if err := errors.Join(orders.Close(), cmd.Wait()); err != nil {
			t.Errorf("the service's process: %v", err)
		}
		log.Check(t)
	})
	s.url = s.process.ask(t, "url")
	s.admin, s.ingest = s.file(t, datadir.AdminKeyFile), s.file(t, datadir.IngestKeyFile)
	return s
}

// process is the test's end of serveAlone: it answers one line to each line.
type process struct {
	orders  io.Writer
	answers *bufio.Reader
}

func (p *process) ask(t *testing.T, order string) string {
	t.Helper()
	if _, err := io.WriteString(p.orders, order+"\n"); err != nil {
		t.Fatalf("ask the service's process: %v", err)
	}
	line, err := p.answers.ReadString('\n')
	if err != nil {
		t.Fatalf("the service's process does not answer: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

// memory is the memory of a process, in bytes: the heap after a collection, and
// the maximum of its resident memory since the last reset.
type memory struct{ heap, peak int64 }

// memory collects garbage and measures; the order "reset" begins a new maximum.
func (s *service) memory(t *testing.T, order string) (m memory) {
	t.Helper()
	line := s.process.ask(t, order)
	if _, err := fmt.Sscan(line, &m.heap, &m.peak); err != nil {
		t.Fatalf("memory: %q: %v", line, err)
	}
	return m
}

// serveAlone is the main function of the service's process. It serves until its
// standard input ends, which happens when the test ends for any reason.
func serveAlone(data string) (exitCode int) {
	if err := obey(data); err != nil {
		fmt.Fprintln(os.Stderr, "level=ERROR", err)
		return 1
	}
	return 0
}

func obey(data string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	a, err := app.New(ctx, servicetest.Options(data, os.Getenv(engineVariable), os.Stderr))
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }() // ends with cancel
	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		var answer string
		var err error
		switch orders.Text() {
		case "url":
			answer = a.Welcome().URL
		case "reset":
			debug.FreeOSMemory()
			if err = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200); err == nil {
				answer, err = measured()
			}
		default:
			answer, err = measured()
		}
		if err != nil {
			return errors.Join(err, a.Stop(context.Background()))
		}
		fmt.Println(answer)
	}
	cancel()
	return errors.Join(orders.Err(), <-ended)
}

// measured is the heap after a collection and the maximum of the resident memory.
func measured() (string, error) {
	// Pools release their memory in two steps.
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	value, _, _ := strings.Cut(rest, "kB")
	peak, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	if err != nil {
		return "", fmt.Errorf("peak of memory: %w", err)
	}
	return fmt.Sprint(m.HeapAlloc, peak<<10), nil
}
