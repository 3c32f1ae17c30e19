package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"
)

// Limits of the HTTP server. Go sets none by default, and then a few thousand
// silent connections can stop a service.
const (
	// headerTimeout bounds the request line and the headers.
	headerTimeout = 5 * time.Second
	// readTimeout bounds a whole request of up to smallBody.
	readTimeout = 30 * time.Second
	// bodyGrace bounds the time until a body begins, and each pause in it:
	// radio links and busy senders pause for some seconds.
	bodyGrace = 10 * time.Second
	// bodyFloor is the least rate of a body after that, in bytes per second.
	bodyFloor = 1 << 10
	// writeTimeout bounds the time from the headers to the end of the answer.
	// The slowest command, a cleanup of millions of records, takes 30 s.
	writeTimeout = 2 * time.Minute
	// idleTimeout is how long a connection is kept for the next request:
	// longer than the 60 s after which common proxies stop using theirs, so
	// that it is not closed under a request on its way.
	idleTimeout = 75 * time.Second
	// maxHeader bounds the headers in bytes.
	maxHeader = 16 << 10

	// A larger body gets the time that it takes at minRate, the rate of a slow
	// uplink. A body of unknown size counts as maxUpload, the largest allowed.
	smallBody = 1 << 20
	maxUpload = 20 << 20
	minRate   = 64 << 10 // bytes per second
)

// ServerConfig is what a [Server] needs.
type ServerConfig struct {
	// Addr is host:port to listen on; port 0 picks a free one.
	Addr string
	// Setting is the name of the setting that has the address, and Taken what to do when
	// something else has the port; both for the error.
	Setting, Taken string
	Handler        http.Handler
	// TLS is nil for a server without TLS.
	TLS *tls.Config
	// Logger gets the complaints of net/http, nil for none.
	Logger *slog.Logger
}

// Server is an HTTP server with its listener.
type Server struct {
	http     http.Server
	tls      bool // net/http sets the TLSConfig of a server without TLS too
	listener net.Listener
	bodies   pace
}

// NewServer binds the address, so that [Server.Addr] is known before the first
// request. The caller must call Shutdown.
func NewServer(cfg ServerConfig) (*Server, error) {
	if cfg.Handler == nil {
		return nil, errors.New("server: Handler is missing")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	listener, err := net.Listen("tcp", cfg.Addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE) && cfg.Taken != "":
		return nil, fmt.Errorf("%s: something else has the port of %s, %s: listen on %s: %w", cfg.Setting, cfg.Addr, cfg.Taken, cfg.Addr, err)
	case err != nil:
		return nil, fmt.Errorf("%s: listen on %s: %w", cmp.Or(cfg.Setting, "server"), cfg.Addr, err)
	}
	s := &Server{listener: listener, bodies: pace{small: readTimeout, grace: bodyGrace}}
	s.tls = cfg.TLS != nil
	s.http = http.Server{
		Handler:           s.paced(cfg.Handler),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       bodyGrace,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(complaints{cfg.Logger.Handler()}, "", 0),
		TLSConfig:         cfg.TLS,
	}
	return s, nil
}

// Addr is the address that was bound.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve takes requests until Shutdown; then it returns nil.
func (s *Server) Serve() error {
	serve := s.http.Serve
	if s.tls {
		serve = func(l net.Listener) error { return s.http.ServeTLS(l, "", "") }
	}
	if err := serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve HTTP on %s: %w", s.Addr(), err)
	}
	return nil
}

// complaints is where net/http writes what it has to say.
type complaints struct{ slog.Handler }

// Write logs one line. Whoever connects without a handshake, as scanners of ports do, is
// no reason for a warning.
func (c complaints) Write(line []byte) (int, error) {
	level := slog.LevelWarn
	if bytes.HasPrefix(line, []byte("http: TLS handshake error")) {
		level = slog.LevelDebug
	}
	slog.NewLogLogger(c.Handler, level).Print(string(line))
	return len(line), nil
}

// Shutdown takes no new requests and waits for those that run. When ctx ends
// first, it cuts them off and returns ctx's error. It may be called twice, and
// before Serve.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = fmt.Errorf("finish running requests: %w", errors.Join(err, s.http.Close()))
	}
	// net/http closes only a listener that it has served.
	if closeErr := s.listener.Close(); closeErr != nil && !errors.Is(closeErr, net.ErrClosed) {
		err = errors.Join(err, fmt.Errorf("close listener: %w", closeErr))
	}
	return err
}

// Servers are served and shut down together.
type Servers []*Server

// Serve takes requests at all of them. It returns when one of them fails, or all
// have been shut down; then it returns nil.
func (all Servers) Serve() error {
	served := make(chan error, len(all))
	for _, s := range all {
		go func() { served <- s.Serve() }() // ends with Shutdown
	}
	for range all {
		if err := <-served; err != nil {
			return err
		}
	}
	return nil
}

// Shutdown shuts all of them down at once: they share the time until ctx ends.
func (all Servers) Shutdown(ctx context.Context) error {
	ended := make(chan error, len(all))
	for _, s := range all {
		go func() { ended <- s.Shutdown(ctx) }() // ends with ctx
	}
	var err error
	for range all {
		err = errors.Join(err, <-ended)
	}
	return err
}

// Finish is Shutdown within a time limit. Requests that take longer are cut off:
// their senders got no answer and send again, so that nothing is lost and nothing
// has failed.
func (all Servers) Finish(ctx context.Context, limit time.Duration, logger *slog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := all.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		logger.Warn("cut off connections that did not finish", "after", limit)
		return nil
	}
	return err
}
