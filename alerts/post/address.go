package post

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// closed are the networks that no message goes to unless its host is allowed: what only
// this machine, its network or its cloud can reach.
var closed = prefixes(
	"0.0.0.0/8",        // this host
	"10.0.0.0/8",       // private (RFC 1918)
	"100.64.0.0/10",    // shared by the customers of a provider; metadata of Alibaba
	"127.0.0.0/8",      // loopback
	"168.63.129.16/32", // the platform of Azure
	"169.254.0.0/16",   // link-local; metadata of most clouds (169.254.169.254)
	"172.16.0.0/12",    // private
	"192.0.0.0/24",     // protocols; metadata of Oracle
	"192.168.0.0/16",   // private
	"198.18.0.0/15",    // benchmarks of networks
	"224.0.0.0/4",      // multicast
	"240.0.0.0/4",      // reserved, broadcast
	"::/96",            // unspecified, loopback, the old form of IPv4 in IPv6
	"64:ff9b:1::/48",   // NAT64 inside of a network
	"100::/64",         // discarded
	"2001::/32",        // Teredo, which hides an IPv4 address
	"fc00::/7",         // unique local; metadata of AWS (fd00:ec2::254)
	"fe80::/10",        // link-local
	"fec0::/10",        // site-local
	"ff00::/8",         // multicast
)

// Networks whose addresses lead to an IPv4 address that is part of them.
var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	sixTo4 = netip.MustParsePrefix("2002::/16")
)

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// isClosed says whether an address is in a closed network, in any of its forms.
func isClosed(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	if slices.ContainsFunc(closed, func(p netip.Prefix) bool { return p.Contains(addr) }) || !addr.IsValid() {
		return true
	}
	bytes := addr.As16()
	switch {
	case nat64.Contains(addr):
		return isClosed(netip.AddrFrom4([4]byte(bytes[12:])))
	case sixTo4.Contains(addr):
		return isClosed(netip.AddrFrom4([4]byte(bytes[2:6])))
	case addr.Is6() && bytes[8]&^2 == 0 && bytes[9] == 0 && bytes[10] == 0x5E && bytes[11] == 0xFE: // ISATAP (RFC 5214)
		return isClosed(netip.AddrFrom4([4]byte(bytes[12:])))
	}
	return false
}

// addressError says that a name led to a closed network.
type addressError struct{ addr string }

func (e *addressError) Error() string {
	return "the address " + e.addr + " is not on the public internet; the operator may allow the host"
}

// control is called with the address of a connection before it is made, after all names
// are looked up: a name cannot lead to another address any more.
func control(_ context.Context, network, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !strings.HasPrefix(network, "tcp") || isClosed(at.Addr()) {
		return &addressError{address}
	}
	return nil
}

// allowed are the hosts that an operator allows: a port of "" stands for all.
type allowed map[host]bool

type host struct{ name, port string }

// has says whether a host with a port is allowed.
func (a allowed) has(address string) bool {
	name, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	name = normal(name)
	return a[host{name, ""}] || a[host{name, port}]
}

// CheckHosts says what is wrong with hosts that are to be allowed; see [Config].
func CheckHosts(hosts []string) error {
	_, err := parseAllowed(hosts)
	return err
}

func parseAllowed(texts []string) (allowed, error) {
	all := allowed{}
	for _, text := range texts {
		name, port := text, ""
		if _, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
			name = strings.Trim(text, "[]")
		} else if strings.Contains(text, ":") {
			if name, port, err = net.SplitHostPort(text); err != nil {
				return nil, wrongHost(text)
			}
			if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
				return nil, wrongHost(text)
			}
		}
		if name = normal(name); name == "" || strings.ContainsFunc(name, notInHost) {
			return nil, wrongHost(text)
		}
		all[host{name, port}] = true
	}
	return all, nil
}

func wrongHost(text string) error {
	return fmt.Errorf("%q is no name or address, with or without a port, such as chat.internal or 10.0.0.7:8065", text)
}

func notInHost(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("/@*?#\\[]\"'<>", r) }

// normal is the one form of a name or an address.
func normal(name string) string {
	if addr, err := netip.ParseAddr(name); err == nil {
		return addr.Unmap().String()
	}
	return strings.ToLower(strings.TrimSuffix(name, "."))
}
