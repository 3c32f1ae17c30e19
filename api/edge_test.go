package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/ops"
	"github.com/errata-log/errata/query"
)

func TestHeadersOfEveryAnswer(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	for _, r := range []request{
		{method: "GET", target: "/"},
		{method: "GET", target: "/nothing"},
		{method: "PUT", target: "/"},
		{method: "GET", target: "/api/v1/admin/keys"},
		{method: "GET", target: "/api/v1/admin/keys", key: key},
		{method: "GET", target: "/api/v1/admin/tools/logs/errors/x", key: key},
		{method: "POST", target: "/api/v1/admin/tools/logs/errors/cleanup", key: key},
	} {
		w := b.do(r)
		for name, want := range map[string]string{
			"Content-Type":            "application/json",
			"X-Content-Type-Options":  "nosniff",
			"Cache-Control":           "no-store",
			"Referrer-Policy":         "no-referrer",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
			// No CORS: the API is not for pages of other origins.
			"Access-Control-Allow-Origin": "",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s %s: %s is %q, want %q", r.method, r.target, name, got, want)
			}
		}
	}
}

func TestRequestID(t *testing.T) {
	b := newBench(t, nil)
	made := regexp.MustCompile(`^[0-9a-f]{32}$`)
	for name, c := range map[string]struct {
		sent string
		kept bool
	}{
		"a UUID":        {"6ba7b810-9dad-11d1-80b4-00c04fd430c8", true},
		"64 characters": {strings.Repeat("Az09-_.x", 8), true},
		"65 characters": {strings.Repeat("a", 65), false},
		"none":          {"", false},
		"a line break":  {"a\n{\"fake\":1}", false},
		"ANSI":          {"\x1b[31mred", false},
		"a space":       {"a b", false},
		"HTML":          {"<script>", false},
		"bidi":          {"a\u202eb", false},
		"quotes":        {`"a"`, false},
		"shell":         {"$(id)", false},
	} {
		w := b.do(request{method: "GET", target: "/nothing", headers: []string{"X-Request-Id: " + c.sent}})
		got := w.Header().Get("X-Request-Id")
		if c.kept != (got == c.sent) || !c.kept && !made.MatchString(got) {
			t.Errorf("%s: sent %q, answered %q", name, c.sent, got)
		}
		var body struct {
			Error struct {
				RequestID string `json:"request_id"`
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || body.Error.RequestID != got {
			t.Errorf("%s: the body has id %q (%v), the header %q", name, body.Error.RequestID, err, got)
		}
		if !strings.Contains(b.log.String(), got) {
			t.Errorf("%s: %s is not in the log", name, got)
		}
	}
	for _, raw := range []string{"fake", "\x1b", "script", "\u202e", "$(id)"} {
		if strings.Contains(b.log.String(), raw) {
			t.Errorf("the log holds %q of an id that was not kept", raw)
		}
	}
}

func TestLogLineHoldsNothingOfTheCaller(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	b.do(request{
		method: "POST", target: "/api/v1/admin/keys?search=planted-query", key: key,
		body:    `{"name": "planted-name", "kind": "planted-kind"}`,
		headers: []string{"User-Agent: planted-agent", "Referer: planted-referer", "X-Request-Id: req-7", "Cookie: planted-cookie"},
	})
	b.do(request{method: "GET", target: "/planted-path/x?y=planted-query"})
	lines := strings.Split(strings.TrimSpace(b.log.String()), "\n")
	want := []map[string]any{
		{"level": "INFO", "msg": "request", "method": "POST", "route": "/api/v1/admin/keys", "status": 422.0, "duration": 0.0, "request_id": "req-7"},
		{"level": "INFO", "msg": "request", "method": "GET", "route": "(none)", "status": 404.0, "duration": 0.0, "request_id": "000102030405060708090a0b0c0d0e0f"},
	}
	var got []map[string]any
	for _, line := range lines {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		delete(fields, "time")
		got = append(got, fields)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if strings.Contains(b.log.String(), "planted") || strings.Contains(b.log.String(), "eik_") {
		t.Errorf("the log repeats the caller:\n%s", b.log)
	}
	b.do(request{method: "GET", target: "/healthz"})
	if !strings.Contains(b.log.String(), `"level":"DEBUG","msg":"request","method":"GET","route":"/healthz"`) {
		t.Errorf("probes are logged as debug:\n%s", b.log)
	}
}

func TestPanicIsAnAnswer(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	b.records.list = func(context.Context, url.Values, query.Projects) (query.List, error) { panic("planted panic") }
	w := b.do(request{method: "GET", target: "/api/v1/admin/tools/logs/errors", key: key, headers: []string{"X-Request-Id: req-9"}})
	if w.Code != 500 || code(t, w) != "internal" || strings.Contains(w.Body.String(), "planted") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if lines := b.log.String(); !strings.Contains(lines, "planted panic") || !strings.Contains(lines, "edge_test.go") || !strings.Contains(lines, `"status":500`) {
		t.Errorf("the log lacks the panic, its place or the request:\n%s", lines)
	}
	b.records.list = func(context.Context, url.Values, query.Projects) (query.List, error) { panic(http.ErrAbortHandler) }
	func() {
		defer func() {
			if caught := recover(); caught != http.ErrAbortHandler {
				t.Errorf("a connection ended on purpose: recovered %v", caught)
			}
		}()
		b.do(request{method: "GET", target: "/api/v1/admin/tools/logs/errors", key: key})
	}()
}

func TestOpenAnswers(t *testing.T) {
	b := newBench(t, nil)
	golden(t, "index", b.do(request{method: "GET", target: "/"}))
	golden(t, "ping", b.do(request{method: "GET", target: "/api/v1/admin/ping"}))
	golden(t, "healthz", b.do(request{method: "GET", target: "/healthz"}))
	golden(t, "readyz", b.do(request{method: "GET", target: "/readyz"}))
	fixed := []string{"X-Request-Id: r"}
	b.health.ready = errors.New("dial tcp 10.1.2.3:9000: refused")
	golden(t, "readyz_not", b.do(request{method: "GET", target: "/readyz", headers: fixed}))
	if !strings.Contains(b.log.String(), "10.1.2.3") {
		t.Error("why it is not ready must stand in the log")
	}
	b.health.ready = errata.Errorf(errata.KindLogUnavailable, "The log is catching up.")
	golden(t, "readyz_log", b.do(request{method: "GET", target: "/readyz", headers: fixed}))
	if w := b.do(request{method: "GET", target: "/healthz"}); w.Code != 200 {
		t.Errorf("healthz while not ready: got %d, want 200", w.Code)
	}
}

func TestOpsStatus(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.OpsRead)
	golden(t, "status_empty", b.do(request{method: "GET", target: "/api/v1/admin/ops/status", key: key}))
	b.health.status.OK = false
	b.health.status.Checks = []errata.Check{
		{Name: "log", OK: true, Detail: "fsync before every answer"},
		{Name: "disk", OK: false, Detail: "97 % full", Hint: "Make room or lower log-max-bytes."},
	}
	n, bytes := uint64(3), int64(9e9)
	b.health.status.Figures = ops.Figures{
		EventsPerSecond: 12.35, LagFacts: &n, LagMS: 1234, LogBytes: &n, LogMaxBytes: &n, DiskFree: &bytes, DiskTotal: &bytes,
		ClickHouseBytes: &n, LostAtSenders: &n, DroppedBySwitch: &n, RefusedByLimit: &n, DroppedByNoise: &n,
	}
	golden(t, "status", b.do(request{method: "GET", target: "/api/v1/admin/ops/status", key: key}))
}

func TestNotImplemented(t *testing.T) {
	b := newBench(t, func(c *api.Config) {
		withReceivers(c) // the document is of a service that has everything
		c.Importer = nil
	})
	w := b.do(request{
		method: "POST", target: "/api/v1/admin/tools/logs/errors/rebuild",
		key: b.key(t, access.ToolsRebuildErrorLogs), headers: []string{"X-Request-Id: r"},
	})
	golden(t, "not_implemented", w)
	if strings.Contains(b.log.String(), "request failed") {
		t.Error("a route that this service does not offer is no failure to look into")
	}
}

func TestInsufficientScope(t *testing.T) {
	b := newBench(t, nil)
	golden(t, "insufficient_scope", b.do(request{
		method: "GET", target: "/api/v1/admin/tools/logs/errors",
		key: b.key(t, access.ToolsGetErrorLog), headers: []string{"X-Request-Id: r"},
	}))
}

func TestMetricsStayOnThisMachine(t *testing.T) {
	b := newBench(t, func(c *api.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} })
	ops, narrow := b.key(t, access.OpsRead), b.key(t, access.KeysManage)
	const local = "127.0.0.1:8080"
	for name, c := range map[string]struct {
		from, host, key, header string
		want                    int
	}{
		"loopback":                           {"127.0.0.1:5", local, "", "", 200},
		"loopback, IPv6":                     {"[::1]:5", "[::1]:8080", "", "", 200},
		"loopback, mapped":                   {"[::ffff:127.0.0.1]:5", "LOCALHOST", "", "", 200},
		"loopback, another of it":            {"127.0.0.1:5", "127.9.9.9", "", "", 200},
		"a name that points here":            {"127.0.0.1:5", "errata.test", "", "", 401},
		"a name that begins as an address":   {"127.0.0.1:5", "127.0.0.1.errata.test:8080", "", "", 401},
		"a name that ends as this machine's": {"127.0.0.1:5", "evil.localhost", "", "", 401},
		"an address that is not loopback":    {"127.0.0.1:5", "192.0.2.1:8080", "", "", 401},
		"no host":                            {"127.0.0.1:5", "", "", "", 401},
		"far away":                           {"192.0.2.7:5", local, "", "", 401},
		"far away, says it is local":         {"192.0.2.7:5", local, "", "X-Forwarded-For: 127.0.0.1", 401},
		"far away, with key":                 {"192.0.2.7:5", local, ops, "", 200},
		"far away, wrong scope":              {"192.0.2.7:5", local, narrow, "", 403},
		"through a proxy on this machine":    {"127.0.0.1:5", local, "", "X-Forwarded-For: 192.0.2.7", 401},
		"the same, says it is local":         {"127.0.0.1:5", local, "", "X-Forwarded-For: 127.0.0.1", 401},
		"the same, empty":                    {"127.0.0.1:5", local, "", "X-Forwarded-For: ", 401},
		"the same, other header":             {"127.0.0.1:5", local, "", "Forwarded: for=192.0.2.7", 401},
		"one that adds Via":                  {"127.0.0.1:5", local, "", "Via: 1.1 proxy", 401},
		"one that adds the protocol":         {"127.0.0.1:5", local, "", "X-Forwarded-Proto: https", 401},
		"the same, with key":                 {"127.0.0.1:5", "errata.test", ops, "Via: 1.1 proxy", 200},
		"no address":                         {"@", local, "", "", 401},
	} {
		req := httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
		req.RemoteAddr, req.Host = c.from, c.host
		if c.key != "" {
			req.Header.Set("Authorization", "Bearer "+c.key)
		}
		if header, value, there := strings.Cut(c.header, ": "); there {
			req.Header.Set(header, value)
		}
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, req)
		if w.Code != c.want || (w.Code == 200) != (w.Body.String() == "errata_up 1\n") {
			t.Errorf("%s: got %d %s, want %d", name, w.Code, w.Body, c.want)
		}
	}
	// What nginx sends when it is told nothing but the address to pass to.
	_, address := serve(t, b.handler, nil)
	host := strings.TrimPrefix(address, "http://")
	if got := talk(t, address, "GET /metrics HTTP/1.0\r\nHost: "+host+"\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.0 401 ") {
		t.Errorf("through a proxy that adds nothing: %.100q", got)
	}
	if got := talk(t, address, "GET /metrics HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 200 ") {
		t.Errorf("a program on this machine: %.100q", got)
	}
	without := newBench(t, func(c *api.Config) { c.Metrics = nil })
	if w := without.do(request{method: "GET", target: "http://localhost/metrics", from: "127.0.0.1:5"}); w.Code != 404 {
		t.Errorf("without metrics: got %d, want 404", w.Code)
	}
}

func TestNewNamesTheWrongField(t *testing.T) {
	b := newBench(t, nil)
	least := api.Config{
		Keys: b.keys, Projects: newProjects(t, b), Records: b.records, Occurrences: b.occurrences, Insights: b.insights, Changes: b.changes, Positions: b.positions, Requests: b.kept, Replayer: b.replays, LogCare: b.care, Nodes: b.nodes, Eraser: b.erasures, Health: b.health, LogSettings: b.logging,
		Security: b.security, Challenges: b.codes, SignIn: b.signIns, Alerts: b.sent.service, Deliveries: b.sent,
	}
	for field, change := range map[string]func(*api.Config){
		"Keys":           func(c *api.Config) { c.Keys = nil },
		"Projects":       func(c *api.Config) { c.Projects = nil },
		"Records":        func(c *api.Config) { c.Records = nil },
		"Occurrences":    func(c *api.Config) { c.Occurrences = nil },
		"Insights":       func(c *api.Config) { c.Insights = nil },
		"Changes":        func(c *api.Config) { c.Changes = nil },
		"Positions":      func(c *api.Config) { c.Positions = nil },
		"Eraser":         func(c *api.Config) { c.Eraser = nil },
		"Replayer":       func(c *api.Config) { c.Replayer = nil },
		"LogCare":        func(c *api.Config) { c.LogCare = nil },
		"Nodes":          func(c *api.Config) { c.Nodes = nil },
		"Requests":       func(c *api.Config) { c.Requests = nil },
		"Health":         func(c *api.Config) { c.Health = nil },
		"LogSettings":    func(c *api.Config) { c.LogSettings = nil },
		"Security":       func(c *api.Config) { c.Security = nil },
		"Challenges":     func(c *api.Config) { c.Challenges = nil },
		"SignIn":         func(c *api.Config) { c.SignIn = nil },
		"Alerts":         func(c *api.Config) { c.Alerts = nil },
		"Deliveries":     func(c *api.Config) { c.Deliveries = nil },
		"KeyRate":        func(c *api.Config) { c.KeyRate = -1 },
		"FailedAuthRate": func(c *api.Config) { c.FailedAuthRate = -1 },
		"PublicURL":      func(c *api.Config) { c.PublicURL = "errata.example" },
		"TrustedProxies": func(c *api.Config) { c.TrustedProxies = []netip.Prefix{{}} },
	} {
		cfg := least
		if _, err := api.New(cfg); err != nil {
			t.Fatalf("the least there can be: %v", err)
		}
		change(&cfg)
		if _, err := api.New(cfg); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: got %v, want an error that names it", field, err)
		}
	}
	handler, err := api.New(least)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/admin/ping", http.NoBody))
	if !strings.Contains(w.Body.String(), `"version":"dev"`) {
		t.Errorf("with the defaults: %s", w.Body)
	}
}
