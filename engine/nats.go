package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/logfiles"
)

const (
	// natsReadyTimeout bounds the start: a log of 10 GiB is read in a second
	// or two, and a check of every block after a power cut takes longer.
	natsReadyTimeout = 2 * time.Minute
	// natsRetryWait is short because the embedded server is back in
	// milliseconds and an external one should not be missed either.
	natsRetryWait = 100 * time.Millisecond
	// A server that is frozen keeps its connections. One that answers none of so many
	// pings, one each interval, is given up for another: after 4 s at most.
	natsPing         = time.Second
	natsPingsUnheard = 2
	// natsMaxMemory bounds JetStream's memory storage, which nothing of
	// Errata's uses.
	natsMaxMemory = 64 << 20
)

// NATSConfig describes the NATS to use.
type NATSConfig struct {
	// URL is an external NATS; "" for the embedded one, which uses the rest.
	URL string
	// ConnectTimeout: see [Config.ConnectTimeout].
	ConnectTimeout time.Duration

	// StoreDir is the folder of JetStream's files. One server at a time.
	StoreDir string
	// MaxStore bounds all of JetStream's files in bytes. It must be below what
	// the disk has: JetStream answers a full store with an error code and goes
	// on, but a full disk stops a stream until the server is restarted.
	MaxStore int64
	// LazySync: see [Options.LazySync].
	LazySync bool
	Clients  NATSClients
	// Hub makes the server one of the Leaves of another one.
	Leaves NATSLeaves
	Hub    NATSHub
	// Logger is slog.Default() when nil.
	Logger *slog.Logger

	password string // of serviceUser, new with each start
}

// NATS is a connection to NATS, and the embedded server behind it if it is
// embedded.
type NATS struct {
	cfg  NATSConfig
	conn *nats.Conn
	hub  *nats.Conn // to the account of ingest nodes, nil where none can come
	js   jetstream.JetStream

	mended []string // see MendedFiles

	restart sync.Mutex // held while one restart is under way
	// failure is why the running server has stopped taking messages, nil while it
	// takes them.
	failure atomic.Pointer[string]

	mu       sync.Mutex     // guards what follows
	embedded *server.Server // nil when external, and while it restarts
	stopped  bool
	damaged  []logfiles.Mended // by this process
}

// StartNATS starts the embedded server, or not, and connects.
func StartNATS(ctx context.Context, cfg NATSConfig) (_ *NATS, err error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	cfg.ConnectTimeout = cmp.Or(cfg.ConnectTimeout, defaultConnectTimeout)
	cfg.password = newPassword()
	n := &NATS{cfg: cfg}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.Stop(context.WithoutCancel(ctx)))
		}
	}()
	if cfg.URL == "" {
		if n.mended, err = mendMetaFiles(cfg.StoreDir, time.Now()); err != nil {
			return nil, err
		}
		if n.embedded, err = n.startServer(ctx); err != nil {
			return nil, err
		}
		n.keepAddr()
		n.conn, err = nats.Connect("", append(n.ownOptions(), nats.InProcessServer(n))...)
		if err == nil {
			err = n.connectHub()
		}
	} else {
		n.conn, err = n.dial(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("engine: connect to NATS: %w", err)
	}
	if n.js, err = jetstream.New(n.conn); err != nil {
		return nil, fmt.Errorf("engine: use JetStream: %w", err)
	}
	if _, err = n.js.AccountInfo(ctx); err != nil {
		return nil, fmt.Errorf("engine: JetStream does not answer; if NATS is external, is it started with JetStream on? %w", err)
	}
	return n, nil
}

// startServer starts the embedded server with room for all that its streams
// have reserved: a server with less would refuse every change to them, the
// change to a smaller log among them.
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

// guardFiles takes damaged messages out of the files, before a server loses
// those behind them or does not come up.
func (n *NATS) guardFiles() error {
	mended, err := logfiles.Guard(n.cfg.StoreDir)
	if err != nil {
		return fmt.Errorf("engine: look at the files of the embedded NATS: %w", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.damaged = append(n.damaged, mended...)
	for _, m := range mended {
		n.cfg.Logger.Error("a file of the log was damaged; what can be read is kept, and so is the file as it was",
			"stream", m.Stream, "file", m.File, "bytes", m.Bytes, "kept", m.Kept)
	}
	return nil
}

// runServer starts a server. Unless applications are to reach it, it
// listens nowhere: it is reached through memory only, so there is no port to
// guard.
func (n *NATS) runServer(ctx context.Context, cfg NATSConfig) (*server.Server, error) {
	options := &server.Options{
		ServerName:         "errata",
		NoSigs:             true,
		JetStream:          true,
		StoreDir:           cfg.StoreDir,
		JetStreamMaxStore:  cfg.MaxStore,
		JetStreamMaxMemory: natsMaxMemory,
		SyncAlways:         !cfg.LazySync,
	}
	if err := cfg.listen(options); err != nil {
		return nil, err
	}
	srv, err := server.NewServer(options)
	if err != nil {
		return nil, fmt.Errorf("engine: configure the embedded NATS: %w", err)
	}
	srv.SetLoggerV2(natsLog{cfg.Logger.With("engine", "nats"), n.noteFailure}, false, false, false)
	srv.Start()

	ready := make(chan bool, 1)
	go func() { ready <- srv.ReadyForConnections(natsReadyTimeout) }()
	select {
	case ok := <-ready:
		if ok && srv.JetStreamEnabled() {
			if err = enableOwnJetStream(srv); err == nil {
				return srv, nil
			}
			break
		}
		err = fmt.Errorf("engine: the embedded NATS did not start; is %s readable, and was it written by this or an older version?", cfg.StoreDir)
	case <-ctx.Done():
		err = fmt.Errorf("engine: start the embedded NATS: %w", ctx.Err())
	}
	srv.Shutdown()
	srv.WaitForShutdown()
	return nil, err
}

func (n *NATS) options() []nats.Option {
	log := n.cfg.Logger.With("engine", "nats")
	return []nats.Option{
		nats.Name("errata"),
		nats.CustomInboxPrefix(serviceInbox),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(natsRetryWait),
		nats.PingInterval(natsPing), nats.MaxPingsOutstanding(natsPingsUnheard),
		// What is published while NATS is away must fail, or the caller would
		// wait for an answer that depends on memory.
		nats.ReconnectBufSize(-1),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("connection lost", "error", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { log.Info("connected again") }),
		// A refused publish or a slow subscription is told nowhere else.
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			subject := ""
			if sub != nil {
				subject = sub.Subject
			}
			log.Error("asynchronous error", "subject", subject, "error", err)
		}),
	}
}

// dial connects to the external NATS and waits a while for it to appear.
func (n *NATS) dial(ctx context.Context) (*nats.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, n.cfg.ConnectTimeout)
	defer cancel()
	for {
		conn, err := nats.Connect(n.cfg.URL, n.options()...)
		if err == nil {
			return conn, nil
		}
		err = fmt.Errorf("%s: %w", redactURL(n.cfg.URL), err)
		// An answer will not change by asking again.
		if errors.Is(err, nats.ErrAuthorization) {
			return nil, err
		}
		if !background.Wait(ctx, connectRetryWait) {
			return nil, err
		}
	}
}

// redactURL hides the passwords of the address, or of the addresses with commas
// between them, for a sentence.
func redactURL(addresses string) string {
	var redacted []string
	for address := range strings.SplitSeq(addresses, ",") {
		u, err := url.Parse(strings.TrimSpace(address))
		if err != nil {
			return "the configured address"
		}
		redacted = append(redacted, u.Redacted())
	}
	return strings.Join(redacted, ",")
}

// MendedFiles has a sentence for each file of a stream or a consumer that was
// found damaged before the start and is whole again.
func (n *NATS) MendedFiles() []string { return n.mended }

// Damaged are the files of the embedded server from which damaged messages were
// taken since this process has started.
func (n *NATS) Damaged() []logfiles.Mended {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.damaged)
}

// Conn is the connection. It reconnects for ever and buffers nothing while it is
// away, so a publish fails at once instead of being kept in memory.
func (n *NATS) Conn() *nats.Conn { return n.conn }

// JetStream is the JetStream side of the connection.
func (n *NATS) JetStream() jetstream.JetStream { return n.js }

// errNATSAway is what the client is told while the server restarts.
var errNATSAway = errors.New("the embedded NATS is not running")

// InProcessConn connects to the embedded server that runs at the moment. The
// NATS client calls it, for the first connection and for every later one.
func (n *NATS) InProcessConn() (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.embedded == nil {
		return nil, errNATSAway
	}
	return n.embedded.InProcessConn()
}

// Restart stops the embedded server and starts it on the same files, which heals
// a stream that a full disk or a failed fsync has stopped. The connection
// reconnects by itself. After a failed restart it may be called again.
func (n *NATS) Restart(ctx context.Context) error {
	return n.RestartAfter(ctx, func() {})
}

// RestartAfter is Restart, and calls do while no server uses the files.
func (n *NATS) RestartAfter(ctx context.Context, do func()) error {
	if n.cfg.URL != "" {
		return errors.New("engine: an external NATS cannot be restarted from here")
	}
	n.restart.Lock()
	defer n.restart.Unlock()

	old, stopped := n.take(false)
	if stopped {
		return errNATSAway
	}
	if old != nil {
		old.Shutdown()
		old.WaitForShutdown()
	}
	do()
	n.failure.Store(nil)
	srv, err := n.startServer(ctx)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.stopped { // while it started
		srv.Shutdown()
		srv.WaitForShutdown()
		return errNATSAway
	}
	n.embedded = srv
	return nil
}

// take removes the server, so that nobody else stops it or connects to it.
func (n *NATS) take(forGood bool) (srv *server.Server, stopped bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	srv, stopped = n.embedded, n.stopped
	n.embedded, n.stopped = nil, n.stopped || forGood
	return srv, stopped
}

// Stop closes the connection and ends the embedded server. It may be called
// more than once.
func (n *NATS) Stop(ctx context.Context) error {
	srv, _ := n.take(true)
	for _, conn := range []*nats.Conn{n.hub, n.conn} {
		if conn != nil {
			conn.Close()
		}
	}
	if srv == nil {
		return nil
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.Shutdown()
		srv.WaitForShutdown()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("engine: stop the embedded NATS: %w", ctx.Err())
	}
}
