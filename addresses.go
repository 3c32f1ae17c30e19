package errata

import (
	"net/netip"
	"strings"
)

// v4In6 is the length of the prefix before an IPv4 address in an IPv6 one.
const v4In6 = 96

// ParsePrefix reads an address or a prefix in its normal form: an address as
// the prefix of its whole length, IPv4 in IPv6 as IPv4, no bits behind the
// prefix. Zones are refused: they mean something on one machine only. So are
// leading zeros, which some read as octal.
func ParsePrefix(text string) (netip.Prefix, bool) {
	if !strings.Contains(text, "/") {
		addr, err := netip.ParseAddr(text)
		if err != nil || addr.Zone() != "" {
			return netip.Prefix{}, false
		}
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), true
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, false
	}
	if prefix.Addr().Is4In6() {
		if prefix.Bits() < v4In6 {
			return netip.Prefix{}, false // neither of IPv4 nor of IPv6
		}
		prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-v4In6)
	}
	return prefix.Masked(), true
}

// PrefixText is what ParsePrefix reads, an address without a length.
func PrefixText(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}
