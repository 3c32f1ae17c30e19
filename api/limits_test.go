package api_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
)

const statusPath = "/api/v1/admin/ops/status"

func TestKeyRate(t *testing.T) {
	b := newBench(t, func(c *api.Config) { c.KeyRate = 60 })
	busy, other := b.key(t, access.OpsRead), b.key(t, access.OpsRead)
	spend := func(key string, want int) {
		t.Helper()
		if w := b.do(request{method: "GET", target: statusPath, key: key}); w.Code != want {
			t.Fatalf("got %d, want %d\n%s", w.Code, want, w.Body)
		}
	}
	for range 60 {
		spend(busy, 200)
	}
	w := b.do(request{method: "GET", target: statusPath, key: busy, headers: []string{"X-Request-Id: r"}})
	golden(t, "rate_limited", w)
	if got := w.Header().Get("Retry-After"); got != "1" {
		t.Errorf("Retry-After: got %q, want 1", got)
	}
	spend(other, 200) // a budget is one key's
	b.clock.Move(999 * time.Millisecond)
	spend(busy, 429)
	b.clock.Move(time.Millisecond)
	spend(busy, 200)
	spend(busy, 429)
	if w := b.do(request{method: "GET", target: "/api/v1/admin/ping", key: busy}); w.Code != 200 {
		t.Errorf("an open route: got %d, want 200", w.Code)
	}
	if w := b.do(request{method: "GET", target: "/api/v1/admin/keys", key: busy}); w.Code != 429 {
		t.Errorf("asking for what the key may not see counts too: got %d, want 429", w.Code)
	}
	b.clock.Move(time.Hour)
	for range 60 { // no more than a minute's worth is saved up
		spend(busy, 200)
	}
	spend(busy, 429)
}

func TestNoRateLimit(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.OpsRead)
	for i := range api.DefaultKeyRate + 100 {
		if w := b.do(request{method: "GET", target: statusPath, key: key}); w.Code != 200 {
			t.Fatalf("request %d: got %d", i, w.Code)
		}
	}
}

func TestFailedAuthRate(t *testing.T) {
	b := newBench(t, func(c *api.Config) { c.FailedAuthRate = api.DefaultFailedAuthRate })
	good := b.key(t, access.OpsRead)
	try := func(from, key string, want int) {
		t.Helper()
		w := b.do(request{method: "GET", target: statusPath, from: from, key: key})
		if w.Code != want {
			t.Fatalf("from %s: got %d, want %d", from, w.Code, want)
		}
		if retry := w.Header().Get("Retry-After"); (want == 429) != (retry == "6") {
			t.Fatalf("from %s: %d with Retry-After %q, want 6 s exactly when limited", from, w.Code, retry)
		}
	}
	for i := range 10 {
		try(fmt.Sprintf("192.0.2.1:%d", 1000+i), "wrong", 401)
	}
	try("192.0.2.1:2000", "wrong", 429)
	try("192.0.2.1:2000", "", 429)
	try("[::ffff:192.0.2.1]:2000", "wrong", 429)
	try("192.0.2.1:2000", good, 200) // whoever shares the address is not shut out
	try("192.0.2.2:2000", "wrong", 401)
	for i := range 10 {
		try(fmt.Sprintf("[2001:db8:0:1::%x]:5", i), "wrong", 401)
	}
	try("[2001:db8:0:1:ffff::]:5", "wrong", 429) // the same /64
	try("[2001:db8:0:2::1]:5", "wrong", 401)
	b.clock.Move(6 * time.Second)
	try("192.0.2.1:2000", "wrong", 401)
	try("192.0.2.1:2000", "wrong", 429)
}

// forwardings are ways to say where a request comes from, i of each.
var forwardings = map[string]struct {
	trusted  string
	from     string
	headers  func(i int) []string
	limited  bool // the 11th failed request is told to wait
	warnings int
}{
	"spoofed by a stranger": {
		"", "192.0.2.1:5",
		func(i int) []string { return []string{fmt.Sprintf("X-Forwarded-For: 203.0.113.%d", i)} }, true, 1,
	},
	"spoofed by a stranger, other header": {
		"", "192.0.2.1:5",
		func(i int) []string { return []string{fmt.Sprintf("X-Real-Ip: 203.0.113.%d", i)} }, true, 1,
	},
	"different callers of a trusted proxy": {
		"10.0.0.0/8", "10.1.2.3:5",
		func(i int) []string { return []string{fmt.Sprintf("X-Forwarded-For: 203.0.113.%d", i)} }, false, 0,
	},
	"one caller who writes hops of his own": {
		"10.0.0.0/8", "10.1.2.3:5",
		func(i int) []string { return []string{fmt.Sprintf("X-Forwarded-For: 198.51.100.%d, 203.0.113.9", i)} }, true, 0,
	},
	"the same with a second header line": {
		"10.0.0.0/8", "10.1.2.3:5",
		func(i int) []string {
			return []string{fmt.Sprintf("X-Forwarded-For: 198.51.100.%d", i), "X-Forwarded-For: 203.0.113.9"}
		}, true, 0,
	},
	"a proxy whose prefix is written as IPv6": {
		"::ffff:10.0.0.0/104", "10.1.2.3:5",
		func(i int) []string { return []string{fmt.Sprintf("X-Forwarded-For: 203.0.113.%d", i)} }, false, 0,
	},
	"a hop that nobody can name, and another header": {
		"10.0.0.0/8", "10.1.2.3:5",
		func(i int) []string {
			return []string{"X-Forwarded-For: unknown", fmt.Sprintf("X-Real-Ip: 203.0.113.%d", i)}
		}, true, 0,
	},
	"an IPv6 caller with many addresses": {
		"10.0.0.0/8", "10.1.2.3:5",
		func(i int) []string { return []string{fmt.Sprintf("X-Forwarded-For: 2001:db8::%x", i)} }, true, 0,
	},
	"through two trusted proxies": {
		"10.0.0.0/8", "10.1.2.3:5",
		func(i int) []string { return []string{fmt.Sprintf("X-Forwarded-For: 203.0.113.%d, 10.9.9.9", i)} }, false, 0,
	},
}

func TestForwardedAddress(t *testing.T) {
	for name, c := range forwardings {
		b := newBench(t, func(cfg *api.Config) {
			cfg.FailedAuthRate = 10
			if c.trusted != "" {
				cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix(c.trusted)}
			}
		})
		last := 0
		for i := range 11 {
			last = b.do(request{method: "GET", target: statusPath, from: c.from, headers: c.headers(i)}).Code
		}
		if (last == 429) != c.limited {
			t.Errorf("%s: the 11th request got %d, want it limited: %v", name, last, c.limited)
		}
		if got := strings.Count(b.log.String(), "not trusted"); got != c.warnings {
			t.Errorf("%s: %d warnings, want %d", name, got, c.warnings)
		}
	}
}
