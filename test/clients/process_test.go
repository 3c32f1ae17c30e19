//go:build clients

package clients

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/test/openapitest"
	"github.com/errata-log/errata/test/product"
	"github.com/errata-log/errata/test/servicetest"
	"github.com/errata-log/errata/test/testenv"
)

// process is the built service in a process of its own, which can be killed.
type process struct {
	*servicetest.Service
	// unchecked is the same service; its answers are not compared with the OpenAPI
	// document, which takes longer than thousands of them.
	unchecked            *servicetest.Service
	binary, engine, addr string
	settings             []string // more flags
	log                  *os.File

	mu     sync.Mutex // held by kill and start
	cmd    *exec.Cmd
	exited chan struct{}
}

// newProcess builds the service and starts it with more settings than it needs.
func newProcess(t *testing.T, settings ...string) *process {
	t.Helper()
	folder := t.TempDir()
	log, err := os.Create(filepath.Join(folder, "service.log"))
	if err != nil {
		t.Fatal(err)
	}
	p := &process{binary: filepath.Join(folder, "errata"), engine: testenv.EngineBinary(t), addr: freeAddress(t), settings: settings, log: log}
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", p.binary, "../../cmd/errata")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, text)
	}
	p.Service = &servicetest.Service{URL: "http://" + p.addr, Data: filepath.Join(folder, "data"), HTTP: servicetest.NewHTTP()}
	bare := p.HTTP.Transport.(*http.Transport)
	p.HTTP.Transport = openapitest.Transport(t, bare)
	p.unchecked = &servicetest.Service{URL: p.URL, Data: p.Data, HTTP: servicetest.NewHTTP()}
	t.Cleanup(func() {
		p.kill(t)
		bare.CloseIdleConnections()
		p.unchecked.HTTP.CloseIdleConnections()
		p.tail(t)
		_ = log.Close()
	})
	p.start(t)
	p.Admin = p.File(t, datadir.AdminKeyFile)
	p.unchecked.Admin = p.Admin
	return p
}

// freeAddress is one that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	addr, err := product.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// start starts the process and waits until it is ready. It may run beside the
// test's own goroutine, and says whether it did.
func (p *process) start(t *testing.T) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	cmd := exec.Command(p.binary, append([]string{"serve", "--data", p.Data, "--listen", p.addr, "--engine-binary", p.engine, "--admin-rate-limit", "0", "--log-level", "warn",
		"--key-events-per-minute", "0", "--project-events-per-minute", "0", "--new-records-per-hour", "0"}, p.settings...)...)
	cmd.Stdout, cmd.Stderr = p.log, p.log
	if err := cmd.Start(); err != nil {
		t.Errorf("start the service: %v", err)
		return false
	}
	exited := make(chan struct{})
	go func() { // ends with the process
		_ = cmd.Wait() // a killed one has no good end
		close(exited)
	}()
	p.cmd, p.exited = cmd, exited
	return p.awaitReady(t)
}

func (p *process) awaitReady(t *testing.T) bool {
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	late := time.After(servicetest.StartTimeout)
	for {
		select {
		case <-poll.C:
		case <-p.exited:
			t.Error("the service ended by itself")
			return false
		case <-late:
			t.Errorf("the service is not ready after %v", servicetest.StartTimeout)
			return false
		}
		req, err := servicetest.NewRequest(http.MethodGet, p.URL+"/readyz", nil)
		if err != nil {
			t.Error(err)
			return false
		}
		if resp, _, err := servicetest.Send(p.HTTP, req); err == nil && resp.StatusCode == http.StatusOK {
			return true
		}
	}
}

// kill ends the process with SIGKILL and waits until it is gone.
func (p *process) kill(t *testing.T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return
	}
	select {
	case <-p.exited: // it has ended already
	default:
		if err := p.cmd.Process.Kill(); err != nil {
			t.Errorf("kill the service: %v", err)
		}
	}
	<-p.exited
}

// tail shows the end of the service's log when the test has failed.
func (p *process) tail(t *testing.T) {
	if !t.Failed() {
		return
	}
	text, err := os.ReadFile(p.log.Name())
	if err != nil {
		t.Error(err)
	}
	const most = 6 << 10
	t.Logf("the end of the service's log:\n%s", text[max(0, len(text)-most):])
}
