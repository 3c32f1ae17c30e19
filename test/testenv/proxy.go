package testenv

import (
	"net"
	"sync"
	"testing"
)

// FreezingProxy forwards connections to an address until it is frozen. Then it
// forwards nothing in either direction, while connections stay open and new ones
// are accepted, as with a process after SIGSTOP.
type FreezingProxy struct {
	// Addr is where it listens.
	Addr string

	listener net.Listener
	to       string
	frozen   chan struct{}
	freeze   sync.Once

	mu    sync.Mutex
	conns []net.Conn
}

// NewFreezingProxy makes one that ends with the test.
func NewFreezingProxy(t testing.TB, to string) *FreezingProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &FreezingProxy{Addr: l.Addr().String(), listener: l, to: to, frozen: make(chan struct{})}
	var running sync.WaitGroup
	running.Go(func() { // ends with the listener
		for {
			theirs, err := l.Accept()
			if err != nil {
				return
			}
			p.keep(theirs)
			running.Go(func() { p.pass(theirs) }) // ends with the connection
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.mu.Lock()
		for _, conn := range p.conns {
			_ = conn.Close()
		}
		p.mu.Unlock()
		running.Wait()
	})
	return p
}

// Freeze stops all forwarding for good. It may be called twice.
func (p *FreezingProxy) Freeze() { p.freeze.Do(func() { close(p.frozen) }) }

func (p *FreezingProxy) keep(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = append(p.conns, conn)
}

func (p *FreezingProxy) pass(theirs net.Conn) {
	select {
	case <-p.frozen:
		return // it stays open until the test ends
	default:
	}
	ours, err := net.Dial("tcp", p.to)
	if err != nil {
		_ = theirs.Close()
		return
	}
	p.keep(ours)
	var both sync.WaitGroup
	both.Go(func() { p.copy(ours, theirs) })
	both.Go(func() { p.copy(theirs, ours) })
	both.Wait()
}

// copy forwards bytes until the end, and then closes the other side. Frozen, it
// forwards nothing.
func (p *FreezingProxy) copy(to, from net.Conn) {
	block := make([]byte, 32<<10)
	for {
		n, err := from.Read(block)
		select {
		case <-p.frozen:
			return
		default:
		}
		if n > 0 {
			if _, err := to.Write(block[:n]); err != nil {
				_ = from.Close()
				return
			}
		}
		if err != nil {
			_ = to.Close()
			return
		}
	}
}
