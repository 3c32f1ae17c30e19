package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/errata-log/errata/internal/background"
)

const (
	// childReadyTimeout bounds one start. A start takes 0.1 s, and longer after a
	// power cut with many parts.
	childReadyTimeout = 2 * time.Minute
	// childReadyPoll is the pause between two pings of a starting child.
	childReadyPoll = 5 * time.Millisecond
	// childStopGrace is the time for a clean end, which takes 20 ms when all
	// connections are closed. The engine itself would wait 5 s for an open
	// connection. Killing it loses nothing.
	childStopGrace = 3 * time.Second
	// childPortTries is the number of tries when another program takes the port
	// before the child does.
	childPortTries = 3
	// orphanTimeout is how long the child of a killed service may hold the data
	// while it ends; 95 ms were seen under load. It cannot be the child of a running
	// service: this process holds the data folder.
	orphanTimeout = 10 * time.Second
	orphanPause   = 50 * time.Millisecond
	// childSteady is how long a child must have answered, so that its end begins a
	// new row of failures.
	childSteady = time.Second
	// childFreeTries is after how many failures in a row the next start is at once.
	childFreeTries = 3
	// childMaxWait is the longest pause between starts that fail.
	childMaxWait = 2 * time.Second
	// dialPatience is how long a new connection waits for a restart under way. A
	// restart takes less, and callers wait longer.
	dialPatience = 2 * time.Second

	// childQuery opens the port and then reads standard input to its end, so that
	// the engine serves until this process closes it or ends. It looks each ten seconds
	// instead of ten times a second whether there is progress to show.
	childQuery = "SYSTEM START LISTEN TCP; SELECT count() FROM file(stdin, LineAsString) SETTINGS interactive_delay = 10000000"
)

var (
	errChildAway    = errors.New("engine: the embedded ClickHouse is being restarted")
	errNoProcess    = errors.New("the program cannot be run")
	errChildStopped = errors.New("engine: the embedded ClickHouse is stopped")
)

// child keeps one errata-engine running.
type child struct {
	cfg       ClickHouseConfig // with the paths of EngineBinary and Library
	keys      childKeys
	files     childFiles
	log       *slog.Logger
	onRestart func()

	work background.Runner
	done chan struct{} // closed when no process is started any more

	mu          sync.Mutex // guards what follows
	proc        *process   // nil while none answers
	addr        string
	up          chan struct{} // closed while proc answers
	stopped     bool
	output      *childLog
	failed      error // of the last failed start, nil while proc answers
	restarts    int
	lastRestart time.Time
}

// startChild starts the engine and returns when it answers; with cfg.Later it may
// return before. The context bounds the start only.
func startChild(ctx context.Context, cfg ClickHouseConfig, onRestart func()) (*child, error) {
	for _, dir := range []string{cfg.DataDir, cfg.RunDir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("engine: make a folder of the embedded ClickHouse: %w", err)
		}
	}
	c := &child{
		cfg:       cfg,
		keys:      childKeys{writer: rand.Text(), reader: rand.Text(), analyst: cmp.Or(cfg.AnalystPassword, rand.Text())},
		files:     childFilesIn(cfg.RunDir),
		log:       cfg.Logger.With("engine", "clickhouse"),
		onRestart: onRestart,
		done:      make(chan struct{}),
		up:        make(chan struct{}),
	}
	if err := c.begin(ctx); err != nil {
		return nil, fmt.Errorf("engine: start the embedded ClickHouse: %w", err)
	}
	return c, nil
}

// watch starts the child again whenever it ends, until ctx ends. Meanwhile it syncs what the
// child merges.
func (c *child) watch(ctx context.Context, p *process) {
	var syncing sync.WaitGroup
	syncing.Go(func() { newMergedParts(c.cfg.DataDir).run(ctx, c.log) })
	defer syncing.Wait()
	failures := 0
	for {
		since := time.Now()
		select {
		case <-ctx.Done():
			p.stop(childStopGrace)
			return
		case <-p.exited:
		}
		c.setDown()
		if time.Since(since) >= childSteady {
			failures = 0
		} else {
			failures++
		}
		c.log.Error("the embedded ClickHouse ended by itself and is started again", "pid", p.pid(), "cause", causeOf(p))
		if p = c.revive(ctx, failures); p == nil {
			return
		}
	}
}

// revive starts children until one answers. It returns nil when ctx ends.
func (c *child) revive(ctx context.Context, failures int) *process {
	for ; ; failures++ {
		if !background.Wait(ctx, restartWait(failures)) {
			return nil
		}
		begin := time.Now()
		p, addr, err := c.launch(ctx)
		if err == nil {
			c.countRestart()
			c.setUp(p, addr)
			c.log.Info("the embedded ClickHouse answers again", "pid", p.pid(), "took", time.Since(begin).Round(time.Millisecond))
			return p
		}
		if ctx.Err() == nil {
			c.setFailed(err)
			c.log.Error("the embedded ClickHouse did not start", "error", err)
		}
	}
}

// restartWait is the pause after so many failures in a row: none after the first
// few, and then up to childMaxWait.
func restartWait(failures int) time.Duration {
	if failures <= childFreeTries {
		return 0
	}
	return min(50*time.Millisecond<<min(failures-childFreeTries, 10), childMaxWait)
}

// launch starts one child and returns when it answers.
func (c *child) launch(ctx context.Context) (*process, string, error) {
	began := time.Now()
	for try := 1; ; try++ {
		port, err := freePort()
		if err != nil {
			return nil, "", err
		}
		if err := c.files.write(c.cfg, c.keys, port); err != nil {
			return nil, "", err
		}
		if err := refuseFunctions(c.cfg.DataDir); err != nil {
			return nil, "", fmt.Errorf("take functions from its users: %w", err)
		}
		cmd := exec.Command(c.cfg.EngineBinary, c.cfg.Library, c.cfg.DataDir, c.files.dir,
			"--config-file="+c.files.config, "--query="+childQuery)
		cmd.Dir = c.cfg.DataDir // a core dump and the like stay with the data
		// Nothing of this process's environment, which may hold secrets.
		cmd.Env = []string{"TZ=UTC", "LANG=C.UTF-8", "HOME=" + c.cfg.DataDir}
		cmd.WaitDelay = time.Second
		output := &childLog{log: c.log}
		p, err := startProcess(cmd, output)
		if err != nil {
			return nil, "", fmt.Errorf("%w: %w", errNoProcess, err)
		}
		addr := loopback(port)
		if err = c.awaitReady(ctx, p, addr); err == nil {
			c.mu.Lock()
			c.output = output
			c.mu.Unlock()
			return p, addr, nil
		}
		p.stop(0)
		said := output.last()
		if try < childPortTries && strings.Contains(said, "Address already in use") {
			continue
		}
		if time.Since(began) < orphanTimeout && strings.Contains(said, "Cannot lock file") && background.Wait(ctx, orphanPause) {
			// The child of a service that was just killed has not ended yet.
			continue
		}
		if said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return nil, "", err
	}
}

// awaitReady returns when the child answers to the user whose password only this
// child knows.
func (c *child) awaitReady(ctx context.Context, p *process, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, childReadyTimeout)
	defer cancel()
	for {
		err := pingChild(ctx, addr, writerUser, c.keys.writer)
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return &endedEarlyError{p.err, causeOf(p)}
		case <-ctx.Done():
			return fmt.Errorf("it does not answer: %w", errors.Join(ctx.Err(), err))
		case <-time.After(childReadyPoll):
		}
	}
}

// endedEarlyError is a child that ended before it answered.
type endedEarlyError struct {
	err   error // nil for an exit status of 0
	cause string
}

func (e *endedEarlyError) Error() string { return "it ended before it answered (" + e.cause + ")" }
func (e *endedEarlyError) Unwrap() error { return e.err }

// pingChild asks the child, once, whether it answers to the user.
func pingChild(ctx context.Context, addr, user, password string) error {
	conn, err := clickhouse.Open(&clickhouse.Options{
		Addr:         []string{addr},
		DialContext:  dialGently,
		Auth:         clickhouse.Auth{Username: user, Password: password},
		DialTimeout:  clickHouseDialTimeout,
		MaxOpenConns: 1, MaxIdleConns: 1,
	})
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Ping(ctx)
}

// causeOf says how a child has ended.
func causeOf(p *process) string {
	if p.err == nil {
		return "exit status 0"
	}
	return p.err.Error()
}

func (c *child) setUp(p *process, addr string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.proc, c.addr, c.failed = p, addr, nil
	close(c.up)
}

func (c *child) setDown() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.proc, c.addr = nil, ""
	c.up = make(chan struct{})
}

func (c *child) setFailed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = err
}

// away is the error for a caller that has waited for the child until ctx ended.
func (c *child) away(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed == nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: it did not start: %w", context.Cause(ctx), c.failed)
}

func (c *child) countRestart() {
	c.mu.Lock()
	c.restarts++
	c.lastRestart = time.Now()
	c.mu.Unlock()
	c.onRestart()
}

// pid is the id of the process that answers at the moment, if one does.
func (c *child) pid() (pid int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.proc == nil || c.stopped {
		return 0, false
	}
	return c.proc.pid(), true
}

// shortfalls are the safety measures that the child could not take at its start.
func (c *child) shortfalls() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.output == nil {
		return nil
	}
	return c.output.shortfalls()
}

// restarted says how often the child was restarted, and when last.
func (c *child) restarted() (times int, last time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.restarts, c.lastRestart
}

// dial connects to the child at its present address, and waits a moment for a
// restart under way. The driver's pool calls it.
func (c *child) dial(ctx context.Context, _ string) (net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, dialPatience, errChildAway)
	defer cancel()
	for {
		addr, err := c.address(ctx)
		if err != nil {
			return nil, err
		}
		conn, err := dialGently(ctx, addr)
		if err == nil {
			return conn, nil
		}
		// A killed child refuses connections some milliseconds before this process
		// notices its end.
		if !background.Wait(ctx, childReadyPoll) {
			return nil, fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

// address is the address of the child. It waits until the child answers.
func (c *child) address(ctx context.Context) (string, error) {
	c.mu.Lock()
	addr, up, stopped := c.addr, c.up, c.stopped
	c.mu.Unlock()
	if stopped {
		return "", errChildStopped
	}
	if addr != "" {
		return addr, nil
	}
	select {
	case <-up:
		return c.address(ctx)
	case <-c.done:
		return "", errChildStopped
	case <-ctx.Done():
		return "", c.away(ctx)
	}
}

// stop ends the child. It may be called more than once.
func (c *child) stop(ctx context.Context) error {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	if err := c.work.Stop(ctx); err != nil {
		return fmt.Errorf("engine: stop the embedded ClickHouse: %w", err)
	}
	return nil
}
