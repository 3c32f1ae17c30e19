package body_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/errata-log/errata/ingest/body"
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
		if addr := body.ClientAddr(r, proxies); addr.IsValid() {
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
