package engine

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
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
	// natsRetryWait is short because an embedded server is back within
	// milliseconds, and an external one should be found soon.
	natsRetryWait = 100 * time.Millisecond
	// A frozen server keeps its connections open. After natsPingsUnheard pings without
	// an answer, one each natsPing, the client connects to another server: within 4 s.
	natsPing         = time.Second
	natsPingsUnheard = 2
)

// NATSConfig describes the NATS to use.
type NATSConfig struct {
	// URL is an external NATS; "" for the embedded one, which uses the rest.
	URL string
	// ConnectTimeout: see [Config.ConnectTimeout].
	ConnectTimeout time.Duration

	// StoreDir is the folder of JetStream's files. One server at a time.
	StoreDir string
	// MaxStore bounds all of JetStream's files in bytes. It must be below the size
	// of the disk: at a full store JetStream refuses messages with an error code and
	// goes on, but a full disk stops a stream until the server restarts.
	MaxStore int64
	// LazySync: see [Options.LazySync].
	LazySync bool
	// TLS is the configuration of Clients and Leaves, nil without TLS.
	TLS     *tls.Config
	Clients NATSClients
	// Hub connects the server to another one as one of its Leaves.
	Leaves NATSLeaves
	Hub    NATSHub
	// Cluster makes the server one of several; its data folder has been claimed.
	Cluster Cluster
	// Logger is slog.Default() when nil.
	Logger *slog.Logger

	password string // of serviceUser, new for each start
	self     string // the name of this node in its cluster, "" without one
}

// NATS is a connection to NATS, and the embedded server behind it if it is
// embedded.
type NATS struct {
	cfg  NATSConfig
	conn *nats.Conn
	hub  *nats.Conn // to the account of ingest nodes, nil without Leaves
	js   jetstream.JetStream

	mended []string // see MendedFiles

	restart sync.Mutex // held during a restart
	// failure says why the running server takes no messages any more, nil while it
	// takes them.
	failure atomic.Pointer[string]

	mu       sync.Mutex     // guards what follows
	embedded *server.Server // nil when external, and while it restarts
	stopped  bool
	damaged  []logfiles.Mended // since this process started
}

// StartNATS connects to NATS, and starts the embedded server first when there is no
// URL.
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
	if err = n.awaitJetStream(ctx); errors.Is(err, ErrLeft) {
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("engine: JetStream does not answer; if NATS is external, is it started with JetStream on? %w", err)
	}
	return n, nil
}

// guardFiles takes damaged messages out of the files. A server would lose the
// messages behind them, or would not start.
func (n *NATS) guardFiles() error {
	mended, err := logfiles.Guard(n.cfg.StoreDir)
	if err != nil {
		return fmt.Errorf("engine: look at the files of the embedded NATS: %w", err)
	}
	if n.cfg.Cluster.On() {
		return n.fetchAgain(mended)
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

func (n *NATS) options() []nats.Option {
	log := n.cfg.Logger.With("engine", "nats")
	options := []nats.Option{
		nats.Name("errata"),
		nats.CustomInboxPrefix(serviceInbox),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(natsRetryWait),
		// A publish must fail while NATS is away. In a buffer it would be lost when
		// this process ends.
		nats.ReconnectBufSize(-1),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("connection lost", "error", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { log.Info("connected again") }),
		// A refused publish or a slow subscription is reported nowhere else.
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			subject := ""
			if sub != nil {
				subject = sub.Subject
			}
			log.Error("asynchronous error", "subject", subject, "error", err)
		}),
	}
	if n.cfg.URL != "" { // the embedded server cannot freeze without its client
		options = append(options, nats.PingInterval(natsPing), nats.MaxPingsOutstanding(natsPingsUnheard))
	}
	return options
}

// dial connects to the external NATS and retries until ConnectTimeout.
func (n *NATS) dial(ctx context.Context) (*nats.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, n.cfg.ConnectTimeout)
	defer cancel()
	for {
		conn, err := nats.Connect(n.cfg.URL, n.options()...)
		if err == nil {
			return conn, nil
		}
		err = fmt.Errorf("%s: %w", redactURL(n.cfg.URL), err)
		// A retry does not help against a refused login.
		if errors.Is(err, nats.ErrAuthorization) {
			return nil, err
		}
		if !background.Wait(ctx, connectRetryWait) {
			return nil, err
		}
	}
}

// redactURL hides the passwords in an address, or in several with commas between
// them, for an error message.
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
// taken since this process started.
func (n *NATS) Damaged() []logfiles.Mended {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.damaged)
}

// Conn is the connection. It reconnects without end. While NATS is away a publish
// fails at once, and nothing is buffered.
func (n *NATS) Conn() *nats.Conn { return n.conn }

// JetStream is the JetStream side of the connection.
func (n *NATS) JetStream() jetstream.JetStream { return n.js }

// errNATSAway is the error for the client while the server restarts.
var errNATSAway = errors.New("the embedded NATS is not running")

// InProcessConn connects to the embedded server that runs at the moment. The NATS
// client calls it for the first connection and for each reconnect.
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

// RestartAfter is Restart. It calls do while no server uses the files.
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
	n.rereadDamaged()
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

// take takes the server out of n, so that no other goroutine stops it or connects to
// it. forGood says that none is started any more.
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
