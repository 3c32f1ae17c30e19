package origin_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/errata-log/errata/origin"
)

func TestClientAddr(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	f := func(name, peer string, forwarded []string, realIP, want string, proxies []netip.Prefix) {
		t.Helper()
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.RemoteAddr = peer
		for _, line := range forwarded {
			r.Header.Add("X-Forwarded-For", line)
		}
		if realIP != "" {
			r.Header.Set("X-Real-IP", realIP)
		}
		got := ""
		if addr := origin.Client(r, proxies); addr.IsValid() {
			got = addr.String()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	f("socket", "203.0.113.9:4000", nil, "", "203.0.113.9", trusted)
	f("IPv6 socket", "[2001:db8::1]:4000", nil, "", "2001:db8::1", trusted)
	f("mapped socket", "[::ffff:203.0.113.9]:4000", nil, "", "203.0.113.9", trusted)
	f("unix socket", "@", []string{"198.51.100.1"}, "", "", trusted)
	f("no proxies configured", "10.0.0.1:4000", []string{"198.51.100.1"}, "198.51.100.2", "10.0.0.1", nil)
	f("spoofed by a stranger", "203.0.113.9:4000", []string{"10.0.0.1"}, "127.0.0.1", "203.0.113.9", trusted)
	f("behind a proxy", "10.0.0.1:4000", []string{"198.51.100.1"}, "", "198.51.100.1", trusted)
	f("behind two proxies", "10.0.0.1:4000", []string{"198.51.100.1, 10.0.0.2"}, "", "198.51.100.1", trusted)
	f("client wrote a hop of its own", "10.0.0.1:4000", []string{"1.2.3.4, 198.51.100.1"}, "", "198.51.100.1", trusted)
	f("several lines are one list", "10.0.0.1:4000", []string{"1.2.3.4", "198.51.100.1", "10.9.9.9"}, "", "198.51.100.1", trusted)
	f("only proxies", "10.0.0.1:4000", []string{"10.0.0.3, 10.0.0.2"}, "", "10.0.0.3", trusted)
	f("a hop that is no address ends it", "10.0.0.1:4000", []string{"198.51.100.1, unknown, 10.0.0.2"}, "", "10.0.0.2", trusted)
	f("an empty hop ends it", "10.0.0.1:4000", []string{"198.51.100.1,"}, "", "10.0.0.1", trusted)
	f("with ports", "10.0.0.1:4000", []string{"198.51.100.1:5000, [fd00::2]:80"}, "", "198.51.100.1", trusted)
	f("mapped hop", "10.0.0.1:4000", []string{"::ffff:198.51.100.1"}, "", "198.51.100.1", trusted)
	f("zone", "10.0.0.1:4000", []string{"fe80::1%eth0"}, "", "10.0.0.1", trusted)
	f("leading zeros", "10.0.0.1:4000", []string{"010.0.0.7"}, "", "10.0.0.1", trusted)
	f("X-Real-IP", "10.0.0.1:4000", nil, "198.51.100.1", "198.51.100.1", trusted)
	f("X-Real-IP is junk", "10.0.0.1:4000", nil, "localhost", "10.0.0.1", trusted)
	f("X-Forwarded-For wins", "10.0.0.1:4000", []string{"198.51.100.1"}, "198.51.100.2", "198.51.100.1", trusted)
}

// All spellings of a prefix have the same meaning.
func TestNormal(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.0/8": "10.0.0.0/8", "10.1.2.3/8": "10.0.0.0/8", "::ffff:10.0.0.0/104": "10.0.0.0/8", "::ffff:10.1.2.3/128": "10.1.2.3/32",
		"fd00::1/8": "fd00::/8", "::ffff:0.0.0.0/96": "0.0.0.0/0", "::ffff:10.0.0.0/95": "", "::/0": "::/0",
	} {
		got, err := origin.Normal([]netip.Prefix{netip.MustParsePrefix(text)})
		if want == "" {
			if err == nil {
				t.Errorf("%s: is %v, want it refused", text, got)
			}
		} else if err != nil || len(got) != 1 || got[0].String() != want {
			t.Errorf("%s: is %v, %v, want %s", text, got, err, want)
		}
	}
	if _, err := origin.Normal([]netip.Prefix{{}}); err == nil {
		t.Error("an empty prefix is taken")
	}
}

func TestGroup(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.7": "192.0.2.7/32", "::ffff:192.0.2.7": "192.0.2.7/32", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
	} {
		if got := origin.Group(origin.ParseAddr(text)); got.String() != want {
			t.Errorf("%s: in %v, want %s", text, got, want)
		}
	}
	if got := origin.Group(netip.Addr{}); got != (netip.Prefix{}) {
		t.Errorf("nobody: in %v", got)
	}
}

// The address of a socket loses its zone: without it, it is the same machine.
func TestPeer(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	for remote, want := range map[string]string{
		"[fe80::1%eth0]:5": "fe80::1", "[::ffff:192.0.2.7]:5": "192.0.2.7", "192.0.2.7:5": "192.0.2.7", "@": "invalid IP", "": "invalid IP",
	} {
		r.RemoteAddr = remote
		if got := origin.Peer(r).String(); got != want {
			t.Errorf("%q: %s, want %s", remote, got, want)
		}
	}
}
