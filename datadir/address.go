package datadir

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// LocalAddr is the listen address host:port for clients on this machine: a wildcard
// address becomes loopback. Text that is not host:port stays as it is.
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

// IsLoopback says whether only this machine can connect to the address.
func IsLoopback(listens net.Addr) bool {
	bound, err := netip.ParseAddrPort(listens.String())
	return err == nil && bound.Addr().IsLoopback()
}

// CheckListen says what is wrong with an address to listen on. The error shows
// the usual port in an example.
func CheckListen(addr, usual string) error {
	if _, port, err := net.SplitHostPort(addr); err != nil || port == "" {
		return fmt.Errorf("%q is not host:port, such as 127.0.0.1:%s or :%[2]s", addr, usual)
	}
	return nil
}

// CheckSecondListen is [CheckListen] for an address beside the first one, "" for none.
func CheckSecondListen(addr, first, usual string) error {
	if addr == "" {
		return nil
	}
	if _, port, _ := net.SplitHostPort(addr); addr == first && port != "0" {
		return fmt.Errorf("%q is what listen is already, which serves the same too; leave it empty, or choose another port", addr)
	}
	return CheckListen(addr, usual)
}

// CheckURL says what is wrong with scheme and host of a URL, which may be empty.
// The error never shows the URL, which may hold a password.
func CheckURL(text string, schemes ...string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return fmt.Errorf("not a URL; want %s://host", schemes[0])
	}
	if slices.Contains(schemes, u.Scheme) {
		return nil
	}
	return fmt.Errorf("scheme %q is not one of %s", u.Scheme, strings.Join(schemes, ", "))
}
