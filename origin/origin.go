// Package origin finds the address that an HTTP request comes from. The receivers,
// the API, its limits and the audit trail use it, so that all have the same answer.
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

// Normal is the prefixes of trusted proxies in the form of [errata.ParsePrefix].
// The error names the prefix that has none.
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

// Trusts says whether a peer is a trusted proxy. The prefixes must come from
// [Normal].
func Trusts(trusted []netip.Prefix, peer netip.Addr) bool {
	return slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(peer) })
}

// Peer is the address of the socket, the zero Addr for a socket without one.
func Peer(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap().WithZone("")
}

// Client is the address that a request comes from: the address of the socket,
// unless that is a trusted proxy. Then it is the right-most address of
// X-Forwarded-For that is no trusted proxy, or X-Real-IP if there is no such
// header. The headers of other peers are ignored. An IPv4 address is never in its
// IPv6 form. The zero Addr means unknown.
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
	// Each proxy appends the address of its peer, and several header lines are one
	// list. So the last address of the last line is the nearest.
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
				return client // what stands before an invalid address is not trusted
			}
			client = addr
			if !Trusts(trusted, addr) {
				return client
			}
		}
	}
	return client
}

// Group is the part of the address space that belongs to one caller: an IPv4
// address, or the /64 that every IPv6 customer gets. The zero Prefix is for
// unknown addresses.
func Group(addr netip.Addr) netip.Prefix {
	bits := 64
	if addr.Is4() {
		bits = 32
	}
	group, _ := addr.Prefix(bits) // of the zero Addr, the zero Prefix
	return group
}

// forwardingHeaders are the headers that proxies add.
var forwardingHeaders = []string{
	"X-Forwarded-For", "X-Real-Ip", "Forwarded", "Via", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Server",
	"X-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip",
}

// Forwarded says whether the request has a header of a proxy.
func Forwarded(r *http.Request) bool {
	return slices.ContainsFunc(forwardingHeaders, func(name string) bool { return len(r.Header[name]) > 0 })
}

// Local says whether the request comes from a program on this machine and not
// through a proxy or a browser's page. A proxy adds a header, or keeps the host
// name of its caller, or speaks HTTP/1.0. A page whose own name points to this
// machine sends that name as the host.
func Local(r *http.Request) bool {
	return Peer(r).IsLoopback() && !Forwarded(r) && r.ProtoAtLeast(1, 1) && isLoopbackHost(r.Host)
}

func isLoopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.EqualFold(host, "localhost") || ParseAddr(host).IsLoopback()
}

// ParseAddr reads an address, with or without a port or brackets. IPv4 in IPv6
// form becomes IPv4. It returns the zero Addr for any other text, and for zones,
// which are valid on one machine only.
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
