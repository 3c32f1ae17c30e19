package engine

import (
	"context"
	"io"
	"net"
	"runtime"
	"sync"
	"time"
)

// drainTimeout is how long a closed connection waits for the engine to end its
// side: longer than any query runs, and than an engine that is frozen for a
// while takes to come back.
const drainTimeout = time.Minute

// gentleConn is a connection to the embedded engine that never resets it.
//
// The driver closes a connection when a query is given up, with an answer on
// its way. The kernel then resets the connection, the engine's read fails, and
// where errata-engine could not give the library a handler for that, the whole
// process ends. So the connection is
// only ended in one direction here, which the engine takes for a client that
// has gone and for whom the query is cancelled, and what it still sends is read
// and thrown away.
type gentleConn struct {
	*net.TCPConn
	drain time.Duration // [drainTimeout], else in tests

	reading sync.Mutex // held while somebody reads
	// state is held while closed changes, or something must not happen after
	// that: a deadline of the user's would end the draining.
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

// newGentleConn takes the connection over. The driver forgets one on which the
// engine does not greet it, and the garbage collector would close it, which
// resets it as soon as the engine does greet. So that is a Close as well.
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

// Close ends the connection for its user at once, and for the engine when that
// has ended its side, or after the time to drain.
func (c *gentleConn) Close() error {
	c.state.Lock()
	defer c.state.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	c.closed = true
	err := c.CloseWrite()
	// Whoever reads gets away with an error.
	_ = c.TCPConn.SetReadDeadline(time.Unix(1, 0))
	go func() { // ends when the engine ends its side, at the latest after the time to drain
		c.reading.Lock()
		c.reading.Unlock() //nolint:staticcheck // nobody reads any more, and who comes later finds it closed
		_ = c.TCPConn.SetReadDeadline(time.Now().Add(c.drain))
		_, _ = io.Copy(io.Discard, c.TCPConn)
		_ = c.TCPConn.Close()
	}()
	return err
}
