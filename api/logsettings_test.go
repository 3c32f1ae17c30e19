package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/query"
)

// logSettings keeps them in memory, or fails.
type logSettings struct {
	now    errata.Logging
	err    error
	writes int
}

func (s *logSettings) ReadLogging(context.Context) (errata.Logging, error) { return s.now, s.err }

func (s *logSettings) Logging() errata.Logging { return s.now }

func (s *logSettings) UpdateLogging(_ context.Context, change func(errata.Logging) (errata.Logging, error)) (errata.Logging, error) {
	if s.err != nil {
		return errata.Logging{}, s.err
	}
	s.writes++
	var err error
	s.now, err = change(s.now)
	return s.now, err
}

const logSettingsPath = "/api/v1/admin/tools/logs/settings"

// settingsData is the answer's data as it stands in the body.
func settingsData(t *testing.T, b *bench, method, key, body string) string {
	t.Helper()
	w := b.do(request{method: method, target: logSettingsPath, key: key, body: body})
	var envelope map[string]json.RawMessage
	if err := json.Unmarshal(w.Body.Bytes(), &envelope); err != nil || w.Code != http.StatusOK || len(envelope) != 1 {
		t.Fatalf("%s %s: %d %s", method, body, w.Code, w.Body)
	}
	return string(envelope["data"])
}

// shown are settings as a text: the names that are on, and the list.
func shown(ips string, on ...string) string {
	var b strings.Builder
	b.WriteString("{")
	for _, name := range []string{"error_log", "error_debug", "development", "module_log", "query_logging"} {
		isOn := false
		for _, n := range on {
			isOn = isOn || n == name
		}
		fmt.Fprintf(&b, "%q:%v,", name, isOn)
	}
	return b.String() + `"query_logging_ips":[` + ips + "]}"
}

func TestLogSettings(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.ToolsGetLogSettings, access.ToolsUpdateLogSettings)
	long := "\"" + strings.Repeat("10.0.0.1 ", 1000) + "\""
	for _, c := range []struct{ body, want string }{
		{"", shown("", "error_log")},
		{"{}", shown("", "error_log")},
		{`{"nothing":{"like":["this"]}}`, shown("", "error_log")},
		{`{"error_debug":1}`, shown("", "error_log", "error_debug")},
		{`{"error_log":0,"development":true}`, shown("", "error_debug", "development")},
		{`{"error_log": 1 ,"error_debug":false,"development":0,"module_log":1,"query_logging":true}`, shown("", "error_log", "module_log", "query_logging")},
		{`{"module_log":0,"query_logging":0}`, shown("", "error_log")},
		{`{"query_logging_ips":["203.0.113.9"," 10.1.2.3/8 ","2001:DB8:0::1"]}`, shown(`"203.0.113.9","10.0.0.0/8","2001:db8::1"`, "error_log")},
		{`{"error_log":1}`, shown(`"203.0.113.9","10.0.0.0/8","2001:db8::1"`, "error_log")},
		{`{"query_logging_ips":"192.0.2.1, 192.0.2.2\n192.0.2.3\r\n\t192.0.2.4/32,,"}`, shown(`"192.0.2.1","192.0.2.2","192.0.2.3","192.0.2.4"`, "error_log")},
		{`{"query_logging_ips":["::ffff:192.0.2.1","::ffff:10.0.0.0/104","2001:db8::/32","::/0"]}`, shown(`"192.0.2.1","10.0.0.0/8","2001:db8::/32","::/0"`, "error_log")},
		{`{"query_logging_ips":[]}`, shown("", "error_log")},
		{`{"query_logging_ips":"198.51.100.0/24"}`, shown(`"198.51.100.0/24"`, "error_log")},
		{`{"query_logging_ips":""}`, shown("", "error_log")},
		{`{"query_logging_ips":` + long + `}`, shown(strings.TrimSuffix(strings.Repeat(`"10.0.0.1",`, 1000), ","), "error_log")},
	} {
		if diff := cmp.Diff(c.want, settingsData(t, b, "PUT", key, c.body)); diff != "" {
			t.Errorf("PUT %.200s (-want +got):\n%s", c.body, diff)
		}
		if diff := cmp.Diff(c.want, settingsData(t, b, "GET", key, "")); diff != "" {
			t.Errorf("GET after %.200s (-want +got):\n%s", c.body, diff)
		}
	}
}

func TestLogSettingsRefusals(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	const number, body, ip = "invalid_boolean", "invalid_body", "invalid_ip"
	for _, c := range []struct {
		sent         string
		status       int
		code, naming string
	}{
		{`{"error_log":2}`, 422, number, "error_log"},
		{`{"error_log":-1}`, 422, number, "error_log"},
		{`{"module_log":1.5}`, 422, number, "module_log"},
		{`{"module_log":1e400}`, 422, number, "0 or 1"},
		{`{"query_logging":"1"}`, 400, body, "query_logging holds a JSON string"},
		{`{"development":null}`, 400, body, "development holds a JSON null"},
		{`{"development":[1]}`, 400, body, "development holds a JSON array"},
		{`{"error_debug":{}}`, 400, body, "error_debug holds a JSON object"},
		{`{"error_log":0,"query_logging_ips":null}`, 400, body, "query_logging_ips holds a JSON null"},
		{`{"query_logging_ips":1}`, 400, body, "query_logging_ips holds a JSON number"},
		{`{"query_logging_ips":true}`, 400, body, "query_logging_ips holds a JSON bool"},
		{`{"query_logging_ips":["10.0.0.1",7]}`, 400, body, "query_logging_ips[] holds a JSON number"},
		{`{"query_logging_ips":[null]}`, 400, body, "query_logging_ips[] holds a JSON null"},
		{`[]`, 400, body, "object"},
		{`null`, 400, body, "object"},
		{`{"error_log":0`, 400, body, "JSON"},
		{`{"error_log":0,"query_logging_ips":["10.0.0.1","localhost"]}`, 422, ip, "localhost"},
		{`{"query_logging_ips":"10.0.0.1 10.0.0.256"}`, 422, ip, "10.0.0.256"},
		{`{"query_logging_ips":["10.0.0.01"]}`, 422, ip, "10.0.0.01"},
		{`{"query_logging_ips":["10.0.0.0/08"]}`, 422, ip, "10.0.0.0/08"},
		{`{"query_logging_ips":["10.0.0.0/33"]}`, 422, ip, "10.0.0.0/33"},
		{`{"query_logging_ips":["fe80::1%eth0"]}`, 422, ip, "fe80::1%eth0"},
		{`{"query_logging_ips":["::ffff:10.0.0.0/90"]}`, 422, ip, "/90"},
		{`{"query_logging_ips":[""]}`, 422, ip, "query_logging_ips"},
		{`{"query_logging_ips":["10.0.0.1,10.0.0.2"]}`, 422, ip, "10.0.0.1,10.0.0.2"},
		{`{"query_logging_ips":["` + strings.Repeat("ä", 5000) + `"]}`, 422, ip, "…"},
		{`{"query_logging_ips":"` + strings.Repeat("10.0.0.1 ", 1001) + `"}`, 422, ip, "at most 1000"},
	} {
		w := b.do(request{method: "PUT", target: logSettingsPath, key: key, body: c.sent})
		if w.Code != c.status || code(t, w) != c.code || !strings.Contains(w.Body.String(), c.naming) || w.Body.Len() > 1000 {
			t.Errorf("%.100s: got %d %.1000s, want %d %s naming %q", c.sent, w.Code, w.Body, c.status, c.code, c.naming)
		}
	}
	if b.logging.writes != 0 {
		t.Errorf("%d refused requests changed something", b.logging.writes)
	}
	if w := b.do(request{method: "PUT", target: logSettingsPath, key: key, body: `error_log=0`, headers: []string{"Content-Type: application/x-www-form-urlencoded"}}); w.Code != http.StatusUnsupportedMediaType {
		t.Errorf("a form: %d %s", w.Code, w.Body)
	}
	golden(t, "settings_not_a_switch", b.do(request{method: "PUT", target: logSettingsPath, key: key, body: `{"error_log":2}`, headers: []string{"X-Request-Id: req-1"}}))
	golden(t, "settings_not_an_address", b.do(request{method: "PUT", target: logSettingsPath, key: key, body: `{"query_logging_ips":["10.0.0.1","localhost"]}`, headers: []string{"X-Request-Id: req-1"}}))
}

func TestLogSettingsInAnOutage(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	for _, kind := range []errata.Kind{errata.KindLogUnavailable, errata.KindLogFull} {
		b.logging.err = errata.Errorf(kind, "away")
		for _, method := range []string{"GET", "PUT"} {
			w := b.do(request{method: method, target: logSettingsPath, key: key})
			if w.Code != http.StatusServiceUnavailable || code(t, w) != string(kind) || w.Header().Get("Retry-After") == "" {
				t.Errorf("%s: %d %s, want 503 %s with Retry-After", method, w.Code, w.Body, kind)
			}
		}
	}
}

// TestDebug: causes of 5xx are for admin keys, and only while error_debug is on.
func TestDebug(t *testing.T) {
	b := newBench(t, nil)
	const inside = "dial tcp 10.1.2.3:9000: refused"
	plain := errors.New(inside)
	outage := errata.Errorf(errata.KindStoreUnavailable, "Away.")
	b.health.ready = outage.Because(plain)
	keys := map[string]string{"admin": b.key(t, access.Everything), "none": ""}
	for _, kind := range []access.Kind{access.KindIngest, access.KindOps} {
		_, keys[string(kind)] = b.create(t, access.NewKey{Kind: kind})
	}
	for _, c := range []struct {
		name string
		err  error
		want string // of the admin's answer while it is on
	}{
		{"a known error", outage.Because(plain), inside},
		{"a known error without a cause", outage, ""},
		{"a wrapped known error", fmt.Errorf("list: %w", outage.Because(plain)), "list: store_unavailable: Away.: " + inside},
		{"an unknown error", plain, inside},
		{"a broken request", errata.Errorf(errata.KindInvalidOrder, "No.").Because(plain), ""},
		{"pages of it", errors.New(strings.Repeat("ä", 5000)), strings.Repeat("ä", 2048)},
	} {
		b.records.list = func(context.Context, url.Values, query.Projects) (query.List, error) { return query.List{}, c.err }
		for who, key := range keys {
			for _, on := range []bool{false, true} {
				b.logging.now.ErrorDebug = on
				want := ""
				if on && who == "admin" {
					want = c.want
				}
				for _, target := range []string{"/api/v1/admin/tools/logs/errors", "/readyz"} {
					if target == "/readyz" {
						want = "" // open to all, so it knows nobody
					}
					w := b.do(request{method: "GET", target: target, key: key})
					var got struct{ Error struct{ Debug string } }
					if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
						t.Fatal(err)
					}
					if got.Error.Debug != want || want == "" && strings.Contains(w.Body.String(), inside) {
						t.Errorf("%s, key %s, on %v, %s: got %.300s, want debug %.50q", c.name, who, on, target, w.Body, want)
					}
				}
			}
		}
	}
	b.records.list = func(context.Context, url.Values, query.Projects) (query.List, error) { panic("index out of range") }
	if w := b.do(request{method: "GET", target: "/api/v1/admin/tools/logs/errors", key: keys["admin"]}); !strings.Contains(w.Body.String(), "index out of range") {
		t.Errorf("a panic: %s", w.Body)
	}
}
