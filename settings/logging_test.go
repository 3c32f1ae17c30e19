package settings_test

import (
	"net/netip"
	"testing"

	errata "github.com/errata-log/errata"
)

func TestQueryAllowed(t *testing.T) {
	limited := errata.Logging{QueryLoggingIPs: []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.7/32"), netip.MustParsePrefix("2001:db8::/32"),
	}}
	for _, c := range []struct {
		logging errata.Logging
		addr    string // "" for one nobody knows
		want    bool
	}{
		{errata.Logging{}, "203.0.113.9", true},
		{errata.Logging{}, "", true},
		{limited, "10.255.0.1", true},
		{limited, "11.0.0.1", false},
		{limited, "192.0.2.7", true},
		{limited, "192.0.2.8", false},
		{limited, "::ffff:10.1.1.1", true},
		{limited, "2001:db8:1::1", true},
		{limited, "2001:db8::1%eth0", true},
		{limited, "2001:db9::1", false},
		{limited, "", false},
	} {
		addr, _ := netip.ParseAddr(c.addr)
		if got := c.logging.QueryAllowed(addr); got != c.want {
			t.Errorf("%q of %v: %v, want %v", c.addr, c.logging.QueryLoggingIPs, got, c.want)
		}
	}
}
