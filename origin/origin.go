// Package origin says where an HTTP request comes from. The receivers, the API, its
// limits and the audit trail all ask it, so that there is one answer.
//
// It must not read a body, know a key or answer a request.
package origin

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	errata "github.com/errata-log/errata"
)

// Normal gives the prefixes of trusted proxies in their normal form, in which
// IPv4 written as IPv6 is IPv4. The error names the one that cannot be.
func Normal(trusted []netip.Prefix) ([]netip.Prefix, error) {
	var list []netip.Prefix
	for _, p := range trusted {
		normal, ok := errata.ParsePrefix(p.String())
		if !ok {
			return nil, fmt.Errorf("%q is no prefix of addresses", p)
		}
		list = append(list, normal)
	}
	return list, nil
}

// Trusts says whether the forwarding headers of a peer are believed. The
// prefixes must be normal.
func Trusts(trusted []netip.Prefix, peer netip.Addr) bool {
	return slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(peer) })
}

// Peer is the address of the socket, the zero Addr when it is none of TCP.
func Peer(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap().WithZone("")
}

// Client is the address that a request came from: that of the socket, unless
// the socket belongs to a trusted proxy. Then it is the right-most hop of
// X-Forwarded-For that is not itself trusted, or X-Real-IP when there is no
// such header. What an untrusted peer writes into these headers is ignored.
// IPv4 addresses are never in their IPv6 form. The zero Addr means unknown.
func Client(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer := Peer(r)
	if !Trusts(trusted, peer) {
		return peer
	}
	hops := r.Header["X-Forwarded-For"]
	if len(hops) == 0 {
		if real := ParseAddr(r.Header.Get("X-Real-Ip")); real.IsValid() {
			return real
		}
		return peer
	}
	// Each proxy appends the address it was called from, and several header
	// lines are one list, so the way back is from the last line's end.
	client := peer
	for _, line := range slices.Backward(hops) {
		for line != "" {
			var hop string
			if comma := strings.LastIndexByte(line, ','); comma >= 0 {
				hop, line = line[comma+1:], line[:comma]
			} else {
				hop, line = line, ""
			}
			addr := ParseAddr(hop)
			if !addr.IsValid() {
				return client // a hop that nobody can name ends what can be trusted
			}
			client = addr
			if !Trusts(trusted, addr) {
				return client
			}
		}
	}
	return client
}

// Group is what one person can hold of the address space: an IPv4 address, or
// the /64 that every IPv6 connection comes with. The zero Prefix stands for all
// addresses that nobody knows.
func Group(addr netip.Addr) netip.Prefix {
	bits := 64
	if addr.Is4() {
		bits = 32
	}
	group, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return group
}

// forwardingHeaders are what proxies add.
var forwardingHeaders = []string{
	"X-Forwarded-For", "X-Real-Ip", "Forwarded", "Via", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Server",
	"X-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip",
}

// Forwarded says whether a proxy says that it passed the request on.
func Forwarded(r *http.Request) bool {
	for _, name := range forwardingHeaders {
		if len(r.Header[name]) > 0 {
			return true
		}
	}
	return false
}

// Local says whether the request comes from a program on this machine that
// means this machine. What a proxy passes on carries a header that says so, or
// the name that the caller used, as does a page that had its own name point
// here; and proxies that do neither by default speak HTTP/1.0.
func Local(r *http.Request) bool {
	return Peer(r).IsLoopback() && !Forwarded(r) && r.ProtoAtLeast(1, 1) && isLoopbackHost(r.Host)
}

func isLoopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.EqualFold(host, "localhost") || ParseAddr(host).IsLoopback()
}

// ParseAddr reads an address, with or without a port or brackets, and unmaps
// it. Zones are refused: they mean nothing on another machine. The zero Addr
// is returned for any other text.
func ParseAddr(text string) netip.Addr {
	if text = strings.TrimSpace(text); text == "" {
		return netip.Addr{}
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	if err != nil {
		withPort, err := netip.ParseAddrPort(text)
		if err != nil {
			return netip.Addr{}
		}
		addr = withPort.Addr()
	}
	if addr.Zone() != "" {
		return netip.Addr{}
	}
	return addr.Unmap()
}
