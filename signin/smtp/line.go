package smtp

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"sync"
)

// maxReplies bounds the replies of a server to one mail, in bytes. The library
// reads lines of any length.
const maxReplies = 1 << 20

// line is the one connection of a mail. It can be closed from outside at any
// time, even before it is open.
type line struct {
	sender *Sender

	mu     sync.Mutex
	conn   net.Conn
	closed bool
}

// dial is called by the library, which then uses the connection.
func (l *line) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	s := l.sender
	conn, err := (&net.Dialer{}).DialContext(ctx, network, s.Server())
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.conn = conn
	late := l.closed
	l.mu.Unlock()
	if late {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	conn = bounded{conn, io.LimitReader(conn, maxReplies)}
	if s.cfg.TLS == NoTLS && !s.cfg.AllowClearText && !loopback(conn) {
		return nil, errNotLoopback
	}
	if s.cfg.TLS != ImplicitTLS {
		return conn, nil
	}
	secure := tls.Client(conn, s.tlsConfig())
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	return secure, nil
}

func (l *line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.conn != nil {
		// An error means that it is closed already.
		_ = l.conn.Close()
	}
}

// bounded is a connection that ends when too many bytes have come.
type bounded struct {
	net.Conn
	replies io.Reader
}

func (b bounded) Read(p []byte) (int, error) { return b.replies.Read(p) }
