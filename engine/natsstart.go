package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/errata-log/errata/internal/background"
)

const (
	// natsReadyTimeout bounds the start. Reading a log of 10 GiB takes a second or
	// two; checking every block after a power cut takes longer.
	natsReadyTimeout = 2 * time.Minute
	natsReadyPoll    = 100 * time.Millisecond
	// natsMaxMemory bounds JetStream's memory storage in bytes. Errata does not use
	// it.
	natsMaxMemory = 64 << 20
	// addressWait is for how long an address that is taken is tried again. It is far longer than
	// the milliseconds that errAddressTaken speaks of, and short for somebody who has chosen a
	// wrong address.
	addressWait      = 2 * time.Second
	addressRetryWait = 100 * time.Millisecond
)

// startServer starts the embedded server with room for all bytes that its streams
// have reserved. A server with less room would refuse every change to them, even the
// change to a smaller log.
func (n *NATS) startServer(ctx context.Context) (*server.Server, error) {
	cfg := n.cfg
	if err := os.MkdirAll(cfg.StoreDir, 0o700); err != nil {
		return nil, fmt.Errorf("engine: make the folder of the log: %w", err)
	}
	if err := n.guardFiles(); err != nil {
		return nil, err
	}
	srv, err := n.runServer(ctx, cfg)
	if err != nil {
		return nil, err
	}
	_, reserved, err := srv.JetStreamReservedResources()
	if err == nil && reserved <= cfg.MaxStore {
		return srv, nil
	}
	srv.Shutdown()
	srv.WaitForShutdown()
	if err != nil {
		return nil, fmt.Errorf("engine: read what the embedded NATS has reserved: %w", err)
	}
	cfg.MaxStore += reserved
	return n.runServer(ctx, cfg)
}

// runServer starts a server. An address that is taken is tried again for a moment: see
// errAddressTaken.
func (n *NATS) runServer(ctx context.Context, cfg NATSConfig) (*server.Server, error) {
	srv, err := n.tryServer(ctx, cfg)
	if !errors.Is(err, errAddressTaken) {
		return srv, err
	}
	cfg.Logger.Warn("an address of the embedded NATS is taken; it is tried again", "engine", "nats", "error", err)
	for end := time.Now().Add(addressWait); errors.Is(err, errAddressTaken) && time.Now().Before(end) && background.Wait(ctx, addressRetryWait); {
		srv, err = n.tryServer(ctx, cfg)
	}
	return srv, err
}

// errAddressTaken is the error of a listener whose address somebody else has. For some
// milliseconds that may be a process which this one is just starting, such as ClickHouse: until
// it executes its program it has a copy of all sockets, so that one which was closed here in
// between stays open.
var errAddressTaken = syscall.EADDRINUSE

// tryServer starts a server. It opens no port unless applications or ingest nodes
// are to reach it; the service itself reaches it through memory.
func (n *NATS) tryServer(ctx context.Context, cfg NATSConfig) (*server.Server, error) {
	options := &server.Options{
		ServerName:         "errata",
		NoSigs:             true,
		JetStream:          true,
		StoreDir:           cfg.StoreDir,
		JetStreamMaxStore:  cfg.MaxStore,
		JetStreamMaxMemory: natsMaxMemory,
		SyncAlways:         !cfg.LazySync,
	}
	if err := errors.Join(cfg.listen(options), cfg.Cluster.join(options, cfg.self)); err != nil {
		return nil, err
	}
	srv, err := server.NewServer(options)
	if err != nil {
		return nil, fmt.Errorf("engine: configure the embedded NATS: %w", err)
	}
	fatal := make(chan string, 1)
	srv.SetLoggerV2(natsLog{cfg.Logger.With("engine", "nats"), n.noteFailure, fatal}, false, false, false)
	srv.Start()

	if err = awaitServer(ctx, srv, fatal, cfg.StoreDir); err == nil {
		err = enableOwnJetStream(srv)
	}
	if err == nil {
		return srv, nil
	}
	srv.Shutdown()
	srv.WaitForShutdown()
	return nil, err
}

// awaitServer waits until the server is ready. A server whose start fails says why on fatal.
func awaitServer(ctx context.Context, srv *server.Server, fatal <-chan string, storeDir string) error {
	for end := time.Now().Add(natsReadyTimeout); ; {
		select {
		case said := <-fatal:
			return startFailed(storeDir, said)
		case <-ctx.Done():
			return fmt.Errorf("engine: start the embedded NATS: %w", ctx.Err())
		default:
		}
		switch ready := srv.ReadyForConnections(natsReadyPoll); {
		case ready && srv.JetStreamEnabled():
			return nil
		case ready || time.Now().After(end):
			return startFailed(storeDir, "it is not ready")
		}
	}
}

// startFailed is the error of a server that ended its start after it said why.
func startFailed(storeDir, said string) error {
	if strings.Contains(said, errAddressTaken.Error()) {
		return fmt.Errorf("engine: the embedded NATS did not start: %s (%w)", said, errAddressTaken)
	}
	return fmt.Errorf("engine: the embedded NATS did not start: %s; is %s readable, and was it written by this or an older version?", said, storeDir)
}
