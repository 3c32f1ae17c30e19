package engine_test

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/errata-log/errata/engine"
)

// writerFunc is a function as an io.Writer.
type writerFunc func(text []byte)

func (f writerFunc) Write(text []byte) (int, error) {
	f(text)
	return len(text), nil
}

// TestAddressFreeAMomentLater: a process that this one is just starting has a copy of all
// sockets, so an address that is free may be taken for a moment.
func TestAddressFreeAMomentLater(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	log := slog.New(slog.NewTextHandler(writerFunc(func(text []byte) {
		if strings.Contains(string(text), "is tried again") {
			_ = taken.Close()
		}
	}), nil))
	n, err := engine.StartNATS(t.Context(), engine.NATSConfig{
		StoreDir: t.TempDir(), MaxStore: 64 << 20, Logger: log,
		Clients: engine.NATSClients{Addr: taken.Addr().String(), Password: "x", Publish: []string{"a"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := n.ClientsAddr().String(); got != taken.Addr().String() {
		t.Errorf("it listens at %s, want %s", got, taken.Addr())
	}
	if err := n.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestStartThatCannotBe: the error has the reason that nats-server gave, and does not wait for
// a server that will never be ready.
func TestStartThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "jetstream"), []byte("no folder"), 0o600); err != nil {
		t.Fatal(err)
	}
	n, err := engine.StartNATS(t.Context(), engine.NATSConfig{StoreDir: dir, MaxStore: 64 << 20, Logger: quiet})
	if err == nil {
		_ = n.Stop(t.Context())
	}
	if err == nil || !strings.Contains(err.Error(), "JetStream") || !strings.Contains(err.Error(), dir) {
		t.Errorf("%v, want the reason and the folder", err)
	}
}
