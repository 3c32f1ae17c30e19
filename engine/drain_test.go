package engine

import (
	"errors"
	"net"
	"testing"
	"time"
)

// TestClosedConnIsOverForItsUser: an engine that is frozen never ends its side
// of a connection. Who had it must get away from it at once all the same, and
// must not end the draining: that would reset the connection.
func TestClosedConnIsOverForItsUser(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ours, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c := &gentleConn{TCPConn: ours.(*net.TCPConn), drain: time.Hour}
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
	// What the engine still says is taken; a connection that was reset fails.
	for range 3 {
		if _, err := theirs.Write(make([]byte, 64<<10)); err != nil {
			t.Errorf("the other side: %v", err)
		}
	}
	if err := theirs.Close(); err != nil {
		t.Error(err)
	}
}
