package body

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ClientAddr is the address that a request came from: that of the socket,
// unless the socket belongs to a trusted proxy. Then it is the right-most hop
// of X-Forwarded-For that is not itself trusted, or X-Real-IP when there is no
// such header. What an untrusted peer writes into these headers is ignored.
// IPv4 addresses are never in their IPv6 form. The zero Addr means unknown.
func ClientAddr(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer := peerOf(r)
	if !isTrusted(peer, trusted) {
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
			if !isTrusted(addr, trusted) {
				return client
			}
		}
	}
	return client
}

// peerOf is the address of the socket.
func peerOf(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap().WithZone("")
}

// AddrGroup is what one person can hold of the address space: an IPv4 address,
// or the /64 that every IPv6 connection comes with. The zero Prefix stands for
// all addresses that nobody knows.
func AddrGroup(addr netip.Addr) netip.Prefix {
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

func isTrusted(addr netip.Addr, trusted []netip.Prefix) bool {
	if !addr.IsValid() {
		return false
	}
	for _, prefix := range trusted {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// ParseAddr reads an address, with or without a port or brackets, and unmaps
// it. Zones are refused: they mean nothing on another machine. The zero Addr
// is returned for any other text.
func ParseAddr(text string) netip.Addr {
	text = strings.TrimSpace(text)
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
