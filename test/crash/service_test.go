package crash

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/errata-log/errata/internal/failpoint"
	"github.com/errata-log/errata/test/product"
)

// readyLimit is how long a start may take on a busy machine. The promise of 5 s
// is about the median, which is printed.
const readyLimit = 60 * time.Second

// service is the binary under test.
type service struct {
	t      *testing.T
	binary string
	data   string
	addr   string
	log    *os.File
	env    []string // beside that of the test
	keys   string   // the folder of the keys

	mu     sync.Mutex
	cmd    *exec.Cmd
	exited chan struct{}
	point  string // the failpoint at which the process is to die, "" for none
}

// programs is the folder of the service with failpoints and of the engine, which
// are built for the first test that starts them.
var programs string

func TestMain(m *testing.M) {
	var err error
	if programs, err = os.MkdirTemp("", "errata-crash"); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := os.RemoveAll(programs); err != nil {
		panic(err)
	}
	os.Exit(code)
}

var build = sync.OnceValues(func() (binary string, err error) {
	ctx := context.Background() // go test ends it in time
	if _, err := product.Build(ctx, "../..", "errata-engine", programs); err != nil {
		return "", err
	}
	return product.Build(ctx, "../..", "errata", programs, "failpoints")
})

func newService(t *testing.T) *service {
	t.Helper()
	return newServiceIn(t, t.TempDir())
}

// newServiceIn makes a service whose data and log are in the folder.
func newServiceIn(t *testing.T, dir string) *service {
	t.Helper()
	addr, err := product.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "service.log"))
	if err != nil {
		t.Fatal(err)
	}
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, binary: binary, data: filepath.Join(dir, "data"), addr: addr, log: log, keys: filepath.Join(dir, "data", "keys")}
	t.Cleanup(func() {
		s.kill()
		if t.Failed() {
			s.printTail()
		}
		log.Close()
	})
	return s
}

// start runs the service, with a failpoint such as "folded@3" or "" for none, and
// returns how long it took to become ready. A process that died at its failpoint
// first counts as not ready.
func (s *service) start(point string) (took time.Duration, ready bool) {
	s.t.Helper()
	begin := time.Now()
	ready = s.awaitReady(s.launch(point), begin.Add(readyLimit))
	return time.Since(begin), ready
}

// launch runs the service and does not wait until it is ready.
func (s *service) launch(point string) (exited <-chan struct{}) {
	s.t.Helper()
	cmd := exec.Command(s.binary, "serve", "--data", s.data, "--listen", s.addr, "--log-format", "json", "--admin-rate-limit", "0",
		"--key-events-per-minute", "0", "--project-events-per-minute", "0", "--new-records-per-hour", "0")
	cmd.Env = append(append(os.Environ(), failpoint.Variable+"="+point), s.env...)
	cmd.Stdout, cmd.Stderr = s.log, s.log
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { // ends with the process
		_ = cmd.Wait() // the test expects every kind of end
		close(ended)
	}()
	s.mu.Lock()
	s.cmd, s.exited, s.point = cmd, ended, point
	s.mu.Unlock()
	return ended
}

// awaitReady polls readiness until the service is ready or the process has ended.
func (s *service) awaitReady(exited <-chan struct{}, deadline time.Time) bool {
	s.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for time.Now().Before(deadline) {
		select {
		case <-exited:
			return false
		case <-tick.C:
		}
		if s.get("/readyz") == http.StatusOK {
			return true
		}
	}
	s.t.Fatalf("not ready at %v", deadline)
	return false
}

func (s *service) get(path string) int {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addr+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

// kill sends SIGKILL to the service and waits until it is gone.
func (s *service) kill() {
	s.mu.Lock()
	cmd, exited := s.cmd, s.exited
	s.mu.Unlock()
	if cmd == nil {
		return
	}
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.t.Errorf("kill the service: %v", err)
	}
	<-exited
}

// end kills the service. One with a failpoint has time to reach it first.
func (s *service) end() {
	s.t.Helper()
	if s.point != "" {
		s.awaitDeath(failpointLimit)
	}
	s.kill()
	if status, ok := s.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		s.t.Errorf("the service was not killed: %v", s.cmd.ProcessState)
	}
}

// recover kills the service and starts it without a failpoint.
func (s *service) recover() {
	s.t.Helper()
	s.end()
	if _, ready := s.start(""); !ready {
		s.t.Fatal("the service died by itself")
	}
}

// pid is the process of the service, 0 before the first start.
func (s *service) pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return 0
	}
	return s.cmd.Process.Pid
}

// awaitDeath waits for the failpoint; false when it was not reached in time.
func (s *service) awaitDeath(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-s.exited:
		return true
	case <-timer.C:
		return false
	}
}

// killClickHouse sends SIGKILL to the service's child process, ClickHouse.
func (s *service) killClickHouse() error {
	child, err := s.child()
	if err != nil {
		return err
	}
	return syscall.Kill(child, syscall.SIGKILL)
}

// child is the process of the service's ClickHouse.
func (s *service) child() (int, error) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.pid()))
	if err != nil {
		return 0, err
	}
	for _, task := range tasks {
		children, err := os.ReadFile(task)
		if err != nil {
			continue // a thread that ended
		}
		for child := range strings.FieldsSeq(string(children)) {
			return strconv.Atoi(child)
		}
	}
	return 0, errors.New("the service has no child")
}

// key reads a key file that the first start wrote.
func (s *service) key(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.keys, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// printTail shows the end of the service's log.
func (s *service) printTail() {
	text, err := os.ReadFile(s.log.Name())
	if err != nil {
		s.t.Error(err)
		return
	}
	const tail = 8 << 10
	s.t.Logf("end of the service's log:\n%s", text[max(0, len(text)-tail):])
}
