package product

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports below those that the kernel gives out by itself: until a service is started, and
// between two starts of it, no other process gets its port by chance.
const firstPort, ports = 12_000, 18_000

// FreePort is a port of this machine on which nobody listens, for a service that a test
// starts and restarts.
func FreePort() (port int, err error) {
	for range 100 {
		port = firstPort + rand.IntN(ports)
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("find a free port: %w", err)
}

// FreeAddr is 127.0.0.1 with a [FreePort].
func FreeAddr() (string, error) {
	port, err := FreePort()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), err
}
