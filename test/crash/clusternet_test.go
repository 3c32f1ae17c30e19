//go:build linux

package crash

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// network stands between the nodes of a cluster, which reach each other through it. It can
// cut one of them off: nothing passes any more, and no connection ends, as with a cable
// that was pulled.
type network struct {
	t *testing.T

	mu    sync.Mutex
	nodes []*service // to know which of them dials
	heals *sync.Cond
	apart int // the node that is cut off, -1 for none
}

func newNetwork(t *testing.T) *network {
	n := &network{t: t, apart: -1}
	n.heals = sync.NewCond(&n.mu)
	t.Cleanup(func() { n.cut(-1) })
	return n
}

// cut cuts off a node, and nobody with -1.
func (n *network) cut(node int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.apart = node
	n.heals.Broadcast()
}

// pass waits until the two nodes can reach each other.
func (n *network) pass(from, to int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for n.apart >= 0 && from != to && (n.apart == from || n.apart == to) {
		n.heals.Wait()
	}
}

// open takes connections to one more node, which listens at target, and returns where.
func (n *network) open(node *service, target string) (addr string) {
	n.t.Helper()
	n.mu.Lock()
	to := len(n.nodes)
	n.nodes = append(n.nodes, node)
	n.mu.Unlock()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { l.Close() })
	go func() { // ends with the listener
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go n.carry(conn, to, target) // ends with either node, or the test
		}
	}()
	return l.Addr().String()
}

// carry connects two nodes until one of them ends the connection.
func (n *network) carry(in net.Conn, to int, target string) {
	defer in.Close()
	from := n.dialler(in.RemoteAddr().(*net.TCPAddr).Port)
	if from < 0 {
		return // it has died meanwhile
	}
	n.pass(from, to)
	out, err := net.Dial("tcp", target)
	if err != nil {
		return // the node is away
	}
	defer out.Close()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
		both.Go(func() {
			defer way[1].Close()
			defer way[0].Close()
			_, _ = io.Copy(gated{way[1], func() { n.pass(from, to) }}, way[0]) // any end of a connection is one
		})
	}
	both.Wait()
}

// gated waits before each write.
type gated struct {
	io.Writer
	wait func()
}

func (g gated) Write(p []byte) (int, error) {
	g.wait()
	return g.Writer.Write(p)
}

// dialler is the node which has the other end of a connection from the port, -1 for none.
func (n *network) dialler(port int) int {
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return -1
	}
	local, socket := fmt.Sprintf("0100007F:%04X", port), ""
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 9 && fields[1] == local {
			socket = "socket:[" + fields[9] + "]"
		}
	}
	n.mu.Lock()
	nodes := n.nodes
	n.mu.Unlock()
	return slices.IndexFunc(nodes, func(s *service) bool {
		open, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", s.pid())) // the pattern is right
		return slices.ContainsFunc(open, func(path string) bool {
			is, err := os.Readlink(path)
			return err == nil && is == socket
		})
	})
}
