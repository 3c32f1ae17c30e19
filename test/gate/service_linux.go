package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/errata-log/errata/test/product"
)

const (
	// readyLimit is how long a start may take before a run is given up.
	readyLimit = 90 * time.Second
	// stopLimit is the time for a clean stop.
	stopLimit = 40 * time.Second
	pollPause = 20 * time.Millisecond
)

// service is the built binary on a data folder.
type service struct {
	gate *gate
	data string
	addr string
	log  string   // file of its output
	args []string // further settings

	mu      sync.Mutex
	cmd     *exec.Cmd
	exited  chan struct{}
	started time.Time
	logFrom int64 // where the output of the latest start begins
	admin   string
}

// newService prepares a service on a folder; nothing is started.
func (g *gate) newService(name, data string, args ...string) (*service, error) {
	addr, err := product.FreeAddr()
	if err != nil {
		return nil, err
	}
	return &service{
		gate: g, data: data, addr: addr,
		log: filepath.Join(g.out, name+".service.log"), args: args,
	}, nil
}

// start starts the process and returns; awaitUp waits until it answers.
func (s *service) start() error {
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the service's log: %w", err)
	}
	defer log.Close()
	info, err := log.Stat()
	if err != nil {
		return fmt.Errorf("look at the service's log: %w", err)
	}
	// Without quotas, because the few senders of the gate send as much as many would.
	args := []string{"serve", "--data", s.data, "--listen", s.addr, "--log-format", "json", "--admin-rate-limit", "0",
		"--key-events-per-minute", "0", "--project-events-per-minute", "0", "--new-records-per-hour", "0"}
	cmd := exec.Command(s.gate.binary, append(args, s.args...)...)
	cmd.Env = cleanEnv()
	cmd.Stdout, cmd.Stderr = log, log
	// The service must not outlive the gate, however the gate ends.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the service: %w", err)
	}
	exited := make(chan struct{})
	go func() { // ends with the process
		_ = cmd.Wait() // the gate expects every kind of end
		close(exited)
	}()
	s.mu.Lock()
	s.cmd, s.exited, s.started, s.logFrom = cmd, exited, begin, info.Size()
	s.mu.Unlock()
	return nil
}

// cleanEnv is the environment without settings of Errata, except where the
// engine's library is.
func cleanEnv() (kept []string) {
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "ERRATA_") || name == "ERRATA_CACHE" || name == "ERRATA_LIBCHDB" {
			kept = append(kept, entry)
		}
	}
	return kept
}

// process is the process id, 0 when none runs, and a channel that is closed
// once it has ended.
func (s *service) process() (pid int, exited <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return 0, nil
	}
	select {
	case <-s.exited:
		return 0, s.exited
	default:
		return s.cmd.Process.Pid, s.exited
	}
}

func (s *service) running() bool {
	pid, _ := s.process()
	return pid != 0
}

// kill ends the service and its child with SIGKILL and returns when both are
// gone.
func (s *service) kill() {
	pid, exited := s.process()
	if pid == 0 {
		return
	}
	child, found := childOf(pid)
	_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone already
	if found {
		_ = syscall.Kill(child, syscall.SIGKILL)
	}
	<-exited
	if found {
		awaitGone(child)
	}
}

// stop ends the service cleanly.
func (s *service) stop() error {
	pid, exited := s.process()
	if pid == 0 {
		return nil
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop the service: %w", err)
	}
	select {
	case <-exited:
		return nil
	case <-time.After(stopLimit):
		s.kill()
		return fmt.Errorf("the service did not end within %s of SIGTERM", stopLimit)
	}
}

// signalChild sends a signal to the service's child process, ClickHouse.
func (s *service) signalChild(signal syscall.Signal) (pid int, err error) {
	parent, _ := s.process()
	if parent == 0 {
		return 0, errors.New("the service does not run")
	}
	pid, found := childOf(parent)
	if !found {
		return 0, errors.New("the service has no child")
	}
	return pid, syscall.Kill(pid, signal)
}

// childOf is the first child of a process.
func childOf(pid int) (child int, found bool) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue // a thread that ended
		}
		for field := range strings.FieldsSeq(string(text)) {
			if n, err := strconv.Atoi(field); err == nil {
				return n, true
			}
		}
	}
	return 0, false
}

// awaitGone waits until a process that is not a child of this one is gone, or
// is a zombie that its new parent will collect.
func awaitGone(pid int) {
	for begin := time.Now(); time.Since(begin) < stopLimit; {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return
		}
		if i := bytes.LastIndexByte(stat, ')'); i >= 0 && bytes.HasPrefix(stat[i:], []byte(") Z")) {
			return
		}
		time.Sleep(pollPause) // reason: the kernel tells only a parent when a process has ended
	}
}

// run runs a command of the product on the data folder, as an operator would.
func (s *service) run(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.gate.binary, append(args, "--data", s.data)...)
	cmd.Env = append(cleanEnv(), "ERRATA_KEY="+s.adminKey())
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("errata %s: %w: %.400s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// key reads a key file that the first start wrote.
func (s *service) key(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(s.data, "keys", name))
	if err != nil {
		return "", fmt.Errorf("read a key of the service: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// said is what the latest start has logged.
func (s *service) said() string {
	s.mu.Lock()
	from := s.logFrom
	s.mu.Unlock()
	text, err := os.ReadFile(s.log)
	if err != nil || int64(len(text)) < from {
		return ""
	}
	return string(text[from:])
}

// lastWords are the last lines of its log, for a run that failed.
func (s *service) lastWords() string {
	text := strings.TrimSpace(s.said())
	lines := strings.Split(text, "\n")
	last := lines[max(0, len(lines)-3):]
	for i, line := range last {
		last[i] = line[:min(len(line), 400)]
	}
	return strings.Join(last, " | ")
}

// poll calls try until it returns true, the context ends, the process ends, or
// the limit is reached.
func (s *service) poll(ctx context.Context, limit time.Duration, try func(context.Context) bool) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(pollPause)
	defer tick.Stop()
	_, exited := s.process()
	for {
		if try(ctx) {
			return nil
		}
		select {
		case <-exited:
			return fmt.Errorf("the service ended: %s", s.lastWords())
		case <-ctx.Done():
			return fmt.Errorf("not within %s: %w", limit, ctx.Err())
		case <-tick.C:
		}
	}
}
