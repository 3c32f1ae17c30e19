package datadir

import (
	"net"
)

// LocalAddr is the listen address host:port as seen from this machine: a wildcard
// address is reached on loopback. What is not host:port stays as it is.
func LocalAddr(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// LocalURL is the URL of a listen address as seen from this machine.
func LocalURL(listen string) string { return "http://" + LocalAddr(listen) }
