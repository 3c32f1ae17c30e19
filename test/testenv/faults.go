package testenv

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
)

// recoveryTimeout is far longer than any recovery takes.
const recoveryTimeout = 30 * time.Second

// Embedded says whether both engines are embedded, and so can be killed.
func (b *Broker) Embedded() bool { return b.backends == backends{} }

// NeedEmbedded ends a test as skipped where an engine is external: it kills them, or
// changes their files. The run with embedded engines has it.
func (b *Broker) NeedEmbedded() {
	b.t.Helper()
	if !b.Embedded() {
		b.t.Skip("the engines are external") // reason: servers that are not ours cannot be killed, and their files are out of reach
	}
}

// KillClickHouse kills the embedded ClickHouse with SIGKILL and returns when it
// answers again. All tests of the process share that ClickHouse, so parallel
// tests see the kill too. It needs embedded engines, see [Broker.NeedEmbedded].
func (e *Env) KillClickHouse() {
	e.t.Helper()
	old := e.SignalClickHouse(os.Kill)
	ctx, cancel := context.WithTimeout(context.Background(), recoveryTimeout)
	defer cancel()
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for {
		// A ping waits for a restart in progress.
		if pid, ok := e.clickhouse.Process(); ok && pid != old && e.ClickHouse.Ping(ctx) == nil {
			return
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			e.t.Fatalf("the embedded ClickHouse was killed and is not back after %s", recoveryTimeout)
		}
	}
}

// SignalClickHouse sends a signal to the embedded ClickHouse and returns its
// process id at that time. For SIGSTOP see [Env.FreezeClickHouse].
func (e *Env) SignalClickHouse(signal os.Signal) (pid int) {
	e.t.Helper()
	e.NeedEmbedded()
	pid, ok := e.clickhouse.Process()
	if !ok {
		e.t.Fatal("testenv: the embedded ClickHouse is not running")
	}
	process, err := os.FindProcess(pid)
	if err == nil {
		err = process.Signal(signal)
	}
	if err != nil {
		e.t.Fatalf("testenv: signal the embedded ClickHouse: %v", err)
	}
	return pid
}

// RestartNATS stops this test's embedded NATS, starts it on the same data and
// returns when NATS is connected again. It needs embedded engines, see [Broker.NeedEmbedded].
func (b *Broker) RestartNATS() {
	b.t.Helper()
	b.DamageNATS(nil)
}

// DamageNATS is RestartNATS that calls damage with the folder of NATS's files
// while no server runs.
func (b *Broker) DamageNATS(damage func(folder string)) {
	b.t.Helper()
	b.NeedEmbedded()
	ctx, cancel := context.WithTimeout(context.Background(), recoveryTimeout)
	defer cancel()
	connected := b.NATS.StatusChanged(nats.CONNECTED)
	defer b.NATS.RemoveStatusListener(connected)
	folder := filepath.Join(b.Dir, "nats")
	if err := b.nats.RestartAfter(ctx, func() {
		if damage != nil {
			damage(folder)
		}
	}); err != nil {
		b.t.Fatal(err)
	}
	select {
	case <-connected:
	case <-ctx.Done():
		b.t.Fatalf("NATS was restarted and is not connected after %s", recoveryTimeout)
	}
}
