package errata

import (
	"net/netip"
	"strings"
)

// v4In6 is the length in bits of the prefix of an IPv4 address in IPv6 form.
const v4In6 = 96

// ParsePrefix reads an address or a prefix into its normal form: an address is a
// prefix of its whole length, IPv4 in IPv6 form is IPv4, and the bits behind the
// prefix are zero. It refuses zones, which are valid on one machine only, and
// leading zeros, which some programs read as octal.
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
			return netip.Prefix{}, false // it mixes IPv4 and IPv6
		}
		prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-v4In6)
	}
	return prefix.Masked(), true
}

// PrefixText is a prefix for ParsePrefix: a single address has no length.
func PrefixText(p netip.Prefix) string {
	if p.IsSingleIP() {
		return p.Addr().String()
	}
	return p.String()
}
