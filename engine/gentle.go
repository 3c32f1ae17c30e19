package engine

import (
	"context"
	"io"
	"net"
	"runtime"
	"sync"
	"time"
)

// drainTimeout is how long a closed connection waits for the engine to end its side.
// It is longer than any query runs, and than an engine is usually frozen.
const drainTimeout = time.Minute

// gentleConn is a connection to the embedded engine that is never reset.
//
// The driver closes a connection when a query is cancelled, with an answer on its
// way. The kernel then resets the connection and the engine's read fails. Where
// errata-engine could not install a handler for that, the whole engine ends. So
// Close only ends the direction to the engine, which then cancels the query as for
// any client that has left. What the engine still sends is read and thrown away.
type gentleConn struct {
	*net.TCPConn
	drain time.Duration // [drainTimeout], another one in tests

	reading sync.Mutex // held during a Read
	// state is held while closed changes and while a deadline is set: after Close a
	// deadline of the driver would end the draining.
	state  sync.Mutex
	closed bool
}

// dialGently connects to the embedded engine.
func dialGently(ctx context.Context, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return newGentleConn(conn.(*net.TCPConn), drainTimeout), nil
}

// newGentleConn wraps the connection. The driver drops a connection without closing
// it when the engine does not answer in time. The garbage collector would then close
// the socket, which resets it at the engine's late answer, so the finalizer calls
// Close instead.
func newGentleConn(conn *net.TCPConn, drain time.Duration) *gentleConn {
	c := &gentleConn{TCPConn: conn, drain: drain}
	runtime.SetFinalizer(c, func(c *gentleConn) { _ = c.Close() })
	return c
}

func (c *gentleConn) isClosed() bool {
	c.state.Lock()
	defer c.state.Unlock()
	return c.closed
}

// Read reads, or fails with net.ErrClosed after Close.
func (c *gentleConn) Read(p []byte) (int, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if c.isClosed() {
		return 0, net.ErrClosed
	}
	n, err := c.TCPConn.Read(p)
	if c.isClosed() {
		return 0, net.ErrClosed
	}
	return n, err
}

// Write writes, or fails with net.ErrClosed after Close.
func (c *gentleConn) Write(p []byte) (int, error) {
	if c.isClosed() {
		return 0, net.ErrClosed
	}
	return c.TCPConn.Write(p)
}

// SetDeadline does nothing after Close.
func (c *gentleConn) SetDeadline(t time.Time) error {
	c.state.Lock()
	defer c.state.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	return c.TCPConn.SetDeadline(t)
}

// SetReadDeadline does nothing after Close.
func (c *gentleConn) SetReadDeadline(t time.Time) error {
	c.state.Lock()
	defer c.state.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	return c.TCPConn.SetReadDeadline(t)
}

// Close ends the connection for the driver at once. The socket closes when the engine
// has ended its side, at the latest after the time to drain.
func (c *gentleConn) Close() error {
	c.state.Lock()
	defer c.state.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	c.closed = true
	err := c.CloseWrite()
	// A Read under way ends with an error.
	_ = c.TCPConn.SetReadDeadline(time.Unix(1, 0))
	go func() { // ends when the engine ends its side, at the latest after the time to drain
		c.reading.Lock()
		c.reading.Unlock() //nolint:staticcheck // no Read runs any more, and later ones find it closed
		_ = c.TCPConn.SetReadDeadline(time.Now().Add(c.drain))
		_, _ = io.Copy(io.Discard, c.TCPConn)
		_ = c.TCPConn.Close()
	}()
	return err
}
