package engine_test

import (
	"context"
	"os"
	osexec "os/exec"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sys/unix"

	"github.com/errata-log/errata/engine"
)

// fileLimitEnv marks the process that runs with the limit.
const fileLimitEnv = "ERRATA_TEST_FILE_LIMIT"

// A server whose files cannot be written says that it has stopped, also when the disk is
// well again, and takes messages after a restart. It has all confirmed messages. The
// limit applies to a process of its own.
func TestAServerThatCannotWriteSaysSo(t *testing.T) {
	if os.Getenv(fileLimitEnv) == "" {
		runLimited(t, fileLimitEnv+"=1")
		return
	}
	n, err := engine.StartNATS(t.Context(), engine.NATSConfig{StoreDir: t.TempDir(), MaxStore: 64 << 20, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	stopAfter(t, n)
	makeStream(t, n.JetStream(), "LOG", "ev.>")
	confirmed := uint64(0)
	publish := func(limit time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		ack, err := n.JetStream().Publish(ctx, "ev.0", []byte("a"), jetstream.WithRetryAttempts(0))
		if err == nil {
			confirmed = ack.Sequence
		}
		return err
	}
	for round := range 3 {
		for range 10 {
			if err := publish(20 * time.Second); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		if why := n.Stopped(); why != "" {
			t.Fatalf("a server that works: %s", why)
		}
		if err := n.TestRoom(); err != nil {
			t.Fatal(err)
		}
		limitFiles(t, 0)
		for publish(500*time.Millisecond) == nil {
			t.Log("taken")
		}
		awaitStopped(t, n)
		if err := n.TestRoom(); err == nil {
			t.Error("there is room where nothing can be written")
		}
		limitFiles(t, unix.RLIM_INFINITY)
		if n.Stopped() == "" || n.TestRoom() != nil || publish(500*time.Millisecond) == nil {
			t.Errorf("stopped %q, room %v; want it stopped although there is room", n.Stopped(), n.TestRoom())
		}
		if err := n.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if why := n.Stopped(); why != "" {
			t.Errorf("after a restart: %s", why)
		}
		awaitConnected(t, n)
		stream, err := n.JetStream().Stream(t.Context(), "LOG")
		if err != nil || stream.CachedInfo().State.LastSeq < confirmed {
			t.Fatalf("%d messages were confirmed, the log has %v, error %v", confirmed, stream, err)
		}
	}
}

func limitFiles(t *testing.T, limit uint64) {
	t.Helper()
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: unix.RLIM_INFINITY}); err != nil {
		t.Fatal(err)
	}
}

func awaitStopped(t *testing.T, n *engine.NATS) {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for late := time.After(20 * time.Second); n.Stopped() == ""; {
		select {
		case <-look.C:
		case <-late:
			t.Fatal("the server does not say that it has stopped")
		}
	}
}

// runLimited runs the test alone in a process of its own, with a variable set.
func runLimited(t *testing.T, variable string) {
	t.Helper()
	cmd := osexec.CommandContext(t.Context(), "/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), variable)
	if said, err := cmd.CombinedOutput(); err != nil { // over a pipe, which has no limit
		t.Fatalf("%v\n%s", err, said)
	}
}

func awaitConnected(t *testing.T, n *engine.NATS) {
	t.Helper()
	connected := n.Conn().StatusChanged(nats.CONNECTED)
	defer n.Conn().RemoveStatusListener(connected)
	if n.Conn().IsConnected() && n.Conn().Flush() == nil {
		return
	}
	select {
	case <-connected:
	case <-time.After(20 * time.Second):
		t.Fatal("the service is not connected")
	}
}
