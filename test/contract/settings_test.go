package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var switches = []string{"error_log", "error_debug", "development", "module_log", "query_logging"}

// logging is the logging settings as the API shows them: the switches, then the
// addresses.
func logging(on []string, ips ...string) string {
	if ips == nil {
		ips = []string{}
	}
	var pairs []any
	for _, name := range switches {
		pairs = append(pairs, name, slices.Contains(on, name))
	}
	return body(append(pairs, "query_logging_ips", ips)...)
}

// set writes settings. The answer and the next read are the whole settings.
func (s *service) set(t *testing.T, body, want string) {
	t.Helper()
	s.want(t, request{method: http.MethodPut, path: settingsPath, body: body}, want)
	s.want(t, request{method: http.MethodGet, path: settingsPath}, want)
}

// TestSettings reads, writes and reads each field of the logging settings.
func TestSettings(t *testing.T) {
	t.Parallel()
	s := start(t)
	on := []string{"error_log"}
	s.want(t, request{method: http.MethodGet, path: settingsPath}, logging(on))
	s.set(t, "", logging(on)) // no body and an empty one change nothing
	s.set(t, "{}", logging(on))
	s.set(t, `{"unknown":{"a":1},"error_logs":0}`, logging(on))
	for _, name := range switches {
		others := slices.DeleteFunc(slices.Clone(on), func(n string) bool { return n == name })
		with := append(slices.Clone(others), name)
		for _, form := range []string{"1", "0", "true", "false", "1"} {
			want := others
			if yes, err := strconv.ParseBool(form); err != nil {
				t.Fatal(err)
			} else if yes {
				want = with
			}
			s.set(t, fmt.Sprintf(`{%q:%s}`, name, form), logging(want))
		}
		on = with
	}
	s.set(t, `{"module_log":0,"development":false}`, logging([]string{"error_log", "error_debug", "query_logging"}))
	on = []string{"error_log", "query_logging"}
	s.set(t, `{"error_debug":0}`, logging(on))

	for _, c := range []struct {
		sent any
		want []string
	}{
		{[]string{"203.0.113.9", "10.1.2.3/8", "2001:DB8::1", "2001:db8::/32", "::ffff:198.51.100.7"}, []string{"203.0.113.9", "10.0.0.0/8", "2001:db8::1", "2001:db8::/32", "198.51.100.7"}},
		{"203.0.113.9", []string{"203.0.113.9"}},
		{"10.0.0.1,10.0.0.2, 10.0.0.3\n10.0.0.4\r\n10.0.0.5 \t10.0.0.0/24,", []string{"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.0/24"}},
		{[]string{" ::1 "}, []string{"::1"}},
		{"", nil},
		{[]string{"0.0.0.0/0", "::/0"}, []string{"0.0.0.0/0", "::/0"}},
		{[]string{}, nil},
	} {
		s.set(t, body("query_logging_ips", c.sent), logging(on, c.want...))
		s.set(t, `{"query_logging":1}`, logging(on, c.want...)) // only the fields that are sent change
	}
	s.set(t, `{"query_logging":0,"query_logging_ips":"::1"}`, logging([]string{"error_log"}, "::1"))
}

// TestErrorLogOff: while error_log is off, events are accepted and not kept, from
// the very next event on.
func TestErrorLogOff(t *testing.T) {
	t.Parallel()
	s := start(t)
	post := func(e event, recorded string) {
		t.Helper()
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		a := s.do(t, request{method: http.MethodPost, path: eventsPath, key: s.Ingest, body: string(line)})
		if a.status/100 != 2 || a.header.Get("X-Errata-Recorded") != recorded {
			t.Errorf("%s: %d %s, recorded %q, want success and %s", e.Message, a.status, a.body, a.header.Get("X-Errata-Recorded"), recorded)
		}
	}
	a, b := trial("system", "a"), trial("system", "b")
	for range 3 {
		s.set(t, `{"error_log":1}`, logging([]string{"error_log"}))
		post(a, "1")
		s.set(t, `{"error_log":0}`, logging(nil))
		post(a, "0")
		post(b, "0")
	}
	s.settle(t)
	s.wantNames(t, "", "a")
	if got, _ := s.detail(t, a); got.Count != 3 {
		t.Errorf("%+v, want the three sightings while error_log was on", got)
	}
	s.remove(t, 1, a.signature().String()) // everything else works as before
	s.wantNames(t, "", "")
	s.set(t, `{"development":1}`, logging([]string{"development"}))
	if got := s.do(t, request{method: http.MethodPost, path: eventsPath, key: s.Ingest, body: `{"message":"x"}`}).header.Get("X-Errata-Development"); got != "1" {
		t.Errorf("development is told as %q, want 1", got)
	}
}

// TestIdempotency: a POST that is repeated with its Idempotency-Key gets the same
// answer and has no second effect.
func TestIdempotency(t *testing.T) {
	t.Parallel()
	s := start(t)
	e := trial("system", "a")
	s.send(t, e)
	s.settle(t)
	far := s.now.AddDate(1, 0, 0).Format("2006-01-02")
	clean := func(key string) request {
		return request{method: http.MethodPost, path: cleanupPath, body: body("before", far), header: []string{"Idempotency-Key", key}}
	}
	one := strings.Repeat("k", 8)
	first := s.do(t, clean(one))
	if want := fmt.Sprintf(`{"data":{"before":%q,"cleared":true,"deleted":{"system":1,"database":0}}}`+"\n", far); first.status != http.StatusOK || first.body != want || first.header.Get("Idempotency-Replayed") != "" {
		t.Fatalf("%d %s, want %s", first.status, first.body, want)
	}
	s.send(t, e)
	s.settle(t)
	for range 2 {
		if again := s.do(t, clean(one)); again.status != first.status || again.body != first.body || again.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("again: %d %s, replayed %q, want %s", again.status, again.body, again.header.Get("Idempotency-Replayed"), first.body)
		}
		s.wantNames(t, "", "a") // it had no second effect
	}

	// The key belongs to one request of one API key.
	other := clean(one)
	other.body = body("before", "1999-12-31")
	s.refused(t, other, http.StatusUnprocessableEntity, "idempotency_key_reused", "Idempotency-Key")
	other = request{method: http.MethodPost, path: statusPath, body: body("signatures", []string{e.signature().String()}, "status", "muted"), header: other.header}
	s.refused(t, other, http.StatusUnprocessableEntity, "idempotency_key_reused", "Idempotency-Key")
	s.wantNames(t, "status=open", "a")
	for _, length := range []int{1, 7, 192, 1000} {
		s.refused(t, clean(strings.Repeat("x", length)), http.StatusUnprocessableEntity, "invalid_idempotency_key", "8", "191")
	}
	s.wantNames(t, "", "a")

	// A refused request may be tried again with the same key.
	longest := strings.Repeat("l", 191)
	bad := clean(longest)
	bad.body = "{}"
	s.refused(t, bad, http.StatusUnprocessableEntity, "invalid_date")
	mine := clean(one)
	mine.key = s.narrowKey(t, "Tools/ClearErrorLogs")
	for _, r := range []request{clean(longest), mine} {
		s.want(t, r, "")
		s.wantNames(t, "", "")
		s.send(t, e)
		s.settle(t)
	}
}
