package app_test

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/test/testenv"
)

// engineProcess is the embedded ClickHouse of this test's only service.
func engineProcess(t *testing.T) *os.Process {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it ended meanwhile
		}
		// "pid (name) state ppid …"; the name may hold brackets, so the last one counts.
		head, tail, _ := strings.Cut(string(text), " (")
		end := strings.LastIndexByte(tail, ')')
		fields := strings.Fields(tail[end+1:])
		if len(fields) < 2 || fields[1] != strconv.Itoa(os.Getpid()) || !strings.HasPrefix(tail, "errata-engine") {
			continue
		}
		pid, err := strconv.Atoi(head)
		if err != nil {
			t.Fatal(err)
		}
		process, err := os.FindProcess(pid)
		if err != nil {
			t.Fatal(err)
		}
		return process
	}
	t.Fatal("no errata-engine among the children of this process")
	return nil
}

// TestClickHouseAway freezes the embedded ClickHouse: events are taken, the
// service says that it is not ready, and when ClickHouse is back, all of it is
// counted.
func TestClickHouseAway(t *testing.T) {
	a := build(t, testOptions(t))
	run(t, a)
	engine := engineProcess(t)
	if err := engine.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	testenv.AwaitFrozen(t, engine.Pid)
	frozen := true
	thaw := func() {
		if frozen {
			frozen = false
			if err := engine.Signal(syscall.SIGCONT); err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(thaw) // before the service stops, also when the test fails
	url := a.Welcome().URL
	began := time.Now()
	status, body := get(t, url+"/readyz", "")
	if status != http.StatusServiceUnavailable || !strings.Contains(body, "store_unavailable") {
		t.Errorf("readyz: %d %s, want 503 store_unavailable", status, body)
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("readyz took %v, longer than health checks wait", took)
	}
	if status, body := get(t, url+"/healthz", ""); status != http.StatusOK {
		t.Errorf("healthz: %d %s, want 200: nobody must restart the service for this", status, body)
	}
	ingestKey := key(t, a.Welcome().IngestKeyFile)
	for range 2 {
		if status, body := request(t, http.MethodPost, url+"/api/v1/events", ingestKey, `{"message":"while away"}`); status != http.StatusAccepted {
			t.Errorf("event: %d %s, want 202", status, body)
		}
	}
	thaw()
	awaitRecords(t, a, func(rows []row) bool { return len(rows) == 1 && rows[0].Count == 2 })
	if status, body := get(t, url+"/readyz", ""); status != http.StatusOK {
		t.Errorf("readyz afterwards: %d %s", status, body)
	}
}

// TestStopWithSilentConnections stops a service with connections that are silent, or
// that are silent in the middle of a request.
func TestStopWithSilentConnections(t *testing.T) {
	a := build(t, testOptions(t))
	stop := run(t, a)
	for _, text := range []string{"", "POST /api/v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"} {
		conn, err := net.Dial("tcp", a.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	// The server has accepted those connections before this request.
	if status, _ := get(t, a.Welcome().URL+"/healthz", ""); status != http.StatusOK {
		t.Fatalf("healthz: %d", status)
	}
	began := time.Now()
	if err := stop(); err != nil {
		t.Errorf("stop: %v, want a clean end", err)
	}
	took := time.Since(began)
	t.Logf("stop: %v", took)
	if took > app.StopTimeout {
		t.Errorf("the stop took %v, more than %v", took, app.StopTimeout)
	}
}
