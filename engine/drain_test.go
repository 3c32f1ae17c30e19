package engine

import (
	"errors"
	"io"
	"net"
	"runtime"
	"testing"
	"time"
)

// TestClosedConnIsOverForItsUser: a frozen engine does not end its side of a connection.
// For its user the connection must end at once. The user must not be able to end the
// draining, which would reset the connection.
func TestClosedConnIsOverForItsUser(t *testing.T) {
	c, theirs := connected(t)
	read := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, 1))
		read <- err
	}()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-read; !errors.Is(err, net.ErrClosed) {
		t.Errorf("the read under way: %v", err)
	}
	past := time.Unix(1, 0)
	for what, do := range map[string]func() error{
		"read":          func() error { _, err := c.Read(make([]byte, 1)); return err },
		"write":         func() error { _, err := c.Write([]byte("x")); return err },
		"deadline":      func() error { return c.SetDeadline(past) },
		"read deadline": func() error { return c.SetReadDeadline(past) },
		"close":         c.Close,
	} {
		if err := do(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s after the close: %v", what, err)
		}
	}
	expectDrained(t, theirs)
}

// TestForgottenConnIsDrained: the driver does not close a connection on which the engine
// does not answer in time. The garbage collector closed it, so that the engine's late
// answer caused a reset, which ended the engine.
func TestForgottenConnIsDrained(t *testing.T) {
	_, theirs := connected(t)
	ended := make(chan error, 1)
	go func() {
		_, err := theirs.Read(make([]byte, 1))
		ended <- err
	}()
	never := time.After(30 * time.Second)
	for {
		runtime.GC()
		select {
		case err := <-ended:
			if !errors.Is(err, io.EOF) {
				t.Errorf("the other side has read %v, want the end", err)
			}
			expectDrained(t, theirs)
			return
		case <-time.After(time.Millisecond): // finalizers run a while after a collection
		case <-never:
			t.Fatal("the connection was never closed")
		}
	}
}

// connected is a connection, and its other side.
func connected(t *testing.T) (ours *gentleConn, theirs net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if theirs, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	return newGentleConn(conn.(*net.TCPConn), time.Hour), theirs
}

// expectDrained expects that the connection still takes what the engine sends. A
// connection that was reset fails.
func expectDrained(t *testing.T, theirs net.Conn) {
	t.Helper()
	for range 30 {
		if _, err := theirs.Write(make([]byte, 64<<10)); err != nil {
			t.Errorf("the other side: %v", err)
		}
	}
	if err := theirs.Close(); err != nil {
		t.Error(err)
	}
}
