package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Limits of the HTTP server. Go's own defaults are no limits at all, and then
// a few thousand connections that say nothing stop a service.
const (
	// headerTimeout bounds the request line and the headers.
	headerTimeout = 5 * time.Second
	// readTimeout bounds a whole request of up to smallBody.
	readTimeout = 30 * time.Second
	// writeTimeout bounds the time from the headers to the end of the answer.
	// The slowest command, a cleanup of millions of records, takes 30 s.
	writeTimeout = 2 * time.Minute
	// idleTimeout is how long a connection is kept for the next request:
	// longer than the 60 s after which common proxies stop using theirs, so
	// that it is not closed under a request on its way.
	idleTimeout = 75 * time.Second
	// maxHeader bounds the headers in bytes.
	maxHeader = 16 << 10

	// A larger body gets the time that it takes at minRate, a slow uplink; a
	// body of unknown size is taken for maxUpload, the largest there is.
	smallBody = 1 << 20
	maxUpload = 20 << 20
	minRate   = 64 << 10 // bytes per second
)

// ServerConfig is what a [Server] needs.
type ServerConfig struct {
	// Addr is host:port to listen on; port 0 picks a free one.
	Addr    string
	Handler http.Handler
	// Logger gets what net/http complains about, nil for nothing.
	Logger *slog.Logger
}

// Server is an HTTP server with its listener.
type Server struct {
	http     http.Server
	listener net.Listener
}

// NewServer binds the address, so that [Server.Addr] is known before the first
// request. Whoever calls it calls Shutdown.
func NewServer(cfg ServerConfig) (*Server, error) {
	if cfg.Handler == nil {
		return nil, errors.New("server: Handler is missing")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	listener, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", cfg.Addr, err)
	}
	return &Server{
		listener: listener,
		http: http.Server{
			Handler:           uploads(cfg.Handler),
			ReadHeaderTimeout: headerTimeout,
			ReadTimeout:       readTimeout,
			WriteTimeout:      writeTimeout,
			IdleTimeout:       idleTimeout,
			MaxHeaderBytes:    maxHeader,
			ErrorLog:          slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelWarn),
		},
	}, nil
}

// Addr is the address that was bound.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve takes requests until Shutdown; then it returns nil.
func (s *Server) Serve() error {
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve HTTP on %s: %w", s.Addr(), err)
	}
	return nil
}

// Shutdown takes no new requests and waits for those that run. When ctx ends
// first, it cuts them off and returns ctx's error. It may be called twice, and
// before Serve.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = fmt.Errorf("finish running requests: %w", errors.Join(err, s.http.Close()))
	}
	// net/http closes only what was served.
	if closeErr := s.listener.Close(); closeErr != nil && !errors.Is(closeErr, net.ErrClosed) {
		err = errors.Join(err, fmt.Errorf("close listener: %w", closeErr))
	}
	return err
}

// uploads gives large bodies the time they need. Small ones, which are nearly
// all, pass without a system call more.
func uploads(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if size := r.ContentLength; size < 0 || size > smallBody {
			if size < 0 || size > maxUpload {
				size = maxUpload
			}
			needed := readTimeout + time.Duration(size/minRate)*time.Second
			control := http.NewResponseController(w)
			now := time.Now() // deadlines of sockets know no other clock
			// Without a connection to set them on there is nothing to wait for.
			_ = control.SetReadDeadline(now.Add(needed))
			_ = control.SetWriteDeadline(now.Add(needed + writeTimeout))
		}
		next.ServeHTTP(w, r)
	})
}
