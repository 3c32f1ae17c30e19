package contract

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/errata-log/errata/app"
)

// TestErrors tests each error code with its status, in the envelope, with a
// message that names the wrong value and the allowed ones. A refused request has
// no effect.
func TestErrors(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.send(t, event{Book: "system", Message: "it stays", Fingerprint: []string{"it stays"}})
	s.settle(t)
	before := s.get(t, errorsPath) + s.get(t, settingsPath)
	t.Run("parameters", s.parametersAreRefused)
	t.Run("signatures", s.signaturesAreRefused)
	t.Run("bodies", s.bodiesAreRefused)
	t.Run("settings", s.settingsAreRefused)
	t.Run("paths", s.pathsAreRefused)
	t.Run("keys", s.keysAreAskedFor)
	if after := s.get(t, errorsPath) + s.get(t, settingsPath); after != before {
		t.Errorf("what was refused had an effect:\nbefore %s\nafter %s", before, after)
	}
}

// parametersAreRefused sends every parameter of the list with an invalid value:
// the answer repeats the value and says what is allowed.
func (s *service) parametersAreRefused(t *testing.T) {
	const orders = "last_seen, first_seen, count, id, level, type, file, line, message, exception_class, user_id"
	for _, c := range []struct {
		name, value, code string
		allowed           string
	}{
		{"types", "other", "invalid_type", "system, database"},
		{"types", "system,both", "invalid_type", "system, database"},
		{"levels", "error,loud", "invalid_level", "debug, info, notice, warning, error, critical, fatal"},
		{"status", "gone", "invalid_status", "open, resolved, muted"},
		{"order", "size", "invalid_order", orders},
		{"order", "count; DROP TABLE records", "invalid_order", orders},
		{"direction", "up", "invalid_direction", "desc, asc"},
		{"signature", "xyz", "signature_required", "32 hex digits"},
		{"signature", strings.Repeat("0", 31), "signature_required", "32 hex digits"},
		{"user_id", "me", "invalid_number", "whole number"},
		{"user_id", "1.5", "invalid_number", "whole number"},
		{"user_id", "9223372036854775808", "invalid_number", "64 bits"},
		{"min_occurrence", "many", "invalid_number", "whole number"},
		{"ip", "300.1.1.1", "invalid_ip", "10.0.0.0/8"},
		{"ip", "10.0.0.0/33", "invalid_ip", "10.0.0.0/8"},
		{"ip", "localhost", "invalid_ip", "203.0.113.9"},
		{"hide_noise", "maybe", "invalid_boolean", "1, true, on, yes"},
		{"hide_noise", "2", "invalid_boolean", "0, false, off, no"},
		{"page", "x", "invalid_page", "whole number"},
		{"page", "1.5", "invalid_page", "whole number"},
		{"limit", "ten", "invalid_limit", "whole number"},
		{"limit", "1e2", "invalid_limit", "whole number"},
		{"project", "default,nobody", "invalid_project", "number or the slug"},
	} {
		query := url.Values{c.name: {c.value}}.Encode()
		shown := c.value[strings.LastIndexByte(c.value, ',')+1:]
		s.refused(t, request{method: http.MethodGet, path: errorsPath + "?" + query}, http.StatusUnprocessableEntity, c.code, c.name, shown, c.allowed)
	}
	for _, value := range []string{"soon", "2026-13-01", "2026-02-30..", "..", "2026-11-21..2026-11-01", "2026-11-01..later", "7x", "-3d", "2026-11-01T10:00..", "1,2,3"} {
		s.refused(t, request{method: http.MethodGet, path: errorsPath + "?date_range=" + url.QueryEscape(value)},
			http.StatusUnprocessableEntity, "invalid_date_range", value, "2026-11-01..2026-11-21", "24h", "yesterday", "RFC 3339")
	}
	for sent, nearest := range map[string]string{"projects=2": `"project"`, "type=system": `"types"`, "level[]=error": `"levels"`, "types=system;levels=fatal": `"types"`} {
		f, _ := s.refused(t, request{method: http.MethodGet, path: errorsPath + "?limit=1&" + sent}, http.StatusUnprocessableEntity, "unknown_parameter")
		name, _, _ := strings.Cut(sent, "=")
		if want := fmt.Sprintf(`{"nearest":%s,"parameter":%q}`, nearest, name); string(f.Details) != want {
			t.Errorf("%s: details %s, want %s", sent, f.Details, want)
		}
	}
	for _, name := range []string{"search", "message", "file", "request_uri", "exception_class"} {
		s.get(t, errorsPath+"?"+name+"="+strings.Repeat("x", 1024))
		s.refused(t, request{method: http.MethodGet, path: errorsPath + "?" + name + "=" + strings.Repeat("x", 1025)},
			http.StatusUnprocessableEntity, "invalid_pattern", name, "1024", "1025")
	}
}

// signaturesAreRefused asks for invalid signatures, unknown records and unknown
// books.
func (s *service) signaturesAreRefused(t *testing.T) {
	none := strings.Repeat("0", 32)
	for _, bad := range []string{none[1:], none + "0", strings.Repeat("g", 32), none[1:] + "é", "1", "0x" + none[2:]} {
		for _, rest := range []string{"", "?type=database", "/trend"} {
			s.refused(t, request{method: http.MethodGet, path: errorsPath + "/" + url.PathEscape(bad) + rest},
				http.StatusUnprocessableEntity, "signature_required", bad, "32 hex digits")
		}
	}
	for _, rest := range []string{"", "?type=system", "?type=DATABASE", "/trend", "/trend?type=database"} {
		s.refused(t, request{method: http.MethodGet, path: errorsPath + "/" + none + rest}, http.StatusNotFound, "not_found", none, "book")
	}
	s.refused(t, request{method: http.MethodGet, path: errorsPath + "/" + none + "?type=both"}, http.StatusUnprocessableEntity, "invalid_type", "both", "system", "database")
}

// different are n signatures.
func different(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%032x", i)
	}
	return list
}

// bodiesAreRefused sends deletes, cleanups and status changes with invalid JSON
// and invalid values.
func (s *service) bodiesAreRefused(t *testing.T) {
	one := strings.Repeat("a", 32)
	type fault struct {
		body   string
		status int
		code   string
		words  []string
	}
	// For each of these routes.
	broken := []fault{
		{"{", 400, "invalid_body", []string{"JSON"}}, {"[]", 400, "invalid_body", []string{"object"}}, {`"x"`, 400, "invalid_body", []string{"object"}},
		{"null", 400, "invalid_body", []string{"object"}}, {"{} {}", 400, "invalid_body", []string{"JSON"}}, {"before=2026", 400, "invalid_body", []string{"JSON"}},
		{`{"x":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "body_too_large", []string{"1048576"}},
	}
	signatures := []fault{
		{"", 422, "signature_required", []string{"signatures", "32 hex digits"}}, {"{}", 422, "signature_required", []string{"signatures"}},
		{`{"signatures":[]}`, 422, "signature_required", []string{"signatures"}}, {`{"signatures":["x",""]}`, 422, "signature_required", []string{"32 hex digits"}},
		{`{"signatures":"` + one + `"}`, 400, "invalid_body", []string{"signatures", "string", "array"}}, {`{"signatures":[7]}`, 400, "invalid_body", []string{"signatures", "number", "string"}},
		{`{"signatures":{}}`, 400, "invalid_body", []string{"signatures", "object", "array"}},
		{signaturesBody(different(1001)...), 422, "too_many_signatures", []string{"1000", "1001"}},
	}
	faults := map[string][]fault{
		"DELETE " + errorsPath: append(signatures, broken...),
		"POST " + statusPath: append(append(broken, signatures...),
			fault{body("signatures", []string{one}), 422, "invalid_status", []string{"status", "open", "resolved", "muted"}},
			fault{body("signatures", []string{one}, "status", "gone"), 422, "invalid_status", []string{"gone", "open", "resolved", "muted"}},
			fault{`{"signatures":["` + one + `"],"status":1}`, 400, "invalid_body", []string{"status", "number", "string"}}),
		"POST " + cleanupPath: append(slices.Clip(broken),
			fault{"", 422, "invalid_date", []string{"before"}}, fault{"{}", 422, "invalid_date", []string{"before"}}, fault{`{"before":7}`, 400, "invalid_body", []string{"before", "number", "string"}},
			fault{`{"before":null}`, 422, "invalid_date", []string{"before"}}, fault{`{"before":["2026-11-21"]}`, 400, "invalid_body", []string{"before", "array"}}),
	}
	for _, date := range []string{"soon", "2026-02-30", "21.11.2026", "2026-11-21 12:00:00", "2026-11-21T12:00", "1795231120", "today", "2026-11"} {
		faults["POST "+cleanupPath] = append(faults["POST "+cleanupPath], fault{body("before", date), 422, "invalid_date", []string{"before", date, "2026-11-21T12:00:00Z"}})
	}
	for route, list := range faults {
		method, path, _ := strings.Cut(route, " ")
		for _, f := range list {
			s.refused(t, request{method: method, path: path, body: f.body}, f.status, f.code, f.words...)
		}
		for _, header := range [][]string{{"Content-Type", "text/plain"}, {"Content-Type", "application/x-www-form-urlencoded"}, {"Content-Type", "nonsense/"}, {"Content-Encoding", "gzip"}} {
			s.refused(t, request{method: method, path: path, body: "{}", header: header}, http.StatusUnsupportedMediaType, "unsupported_media_type", "Content-")
		}
	}
}

// settingsAreRefused sends invalid logging settings.
func (s *service) settingsAreRefused(t *testing.T) {
	put := func(body string) request { return request{method: http.MethodPut, path: settingsPath, body: body} }
	for _, field := range []string{"error_log", "error_debug", "development", "module_log", "query_logging"} {
		for value, found := range map[string]string{`"1"`: "string", "null": "null", "[]": "array", "{}": "object", `"yes"`: "string"} {
			s.refused(t, put(fmt.Sprintf(`{%q:%s}`, field, value)), http.StatusBadRequest, "invalid_body", field, found)
		}
		for _, value := range []string{"2", "-1", "0.5", "1.0", "0.0", "1e0"} {
			s.refused(t, put(fmt.Sprintf(`{"development":1,%q:%s}`, field, value)), http.StatusUnprocessableEntity, "invalid_boolean", field, "0", "1")
		}
	}
	for _, value := range []string{"7", "null", "{}", "[1]", `[["10.0.0.1"]]`} {
		s.refused(t, put(`{"development":1,"query_logging_ips":`+value+`}`), http.StatusBadRequest, "invalid_body", "query_logging_ips")
	}
	for _, bad := range []string{"10.0.0", "300.1.1.1", "10.0.0.0/33", "example.org", "010.0.0.1", "fe80::1%eth0", "::/129"} {
		for _, form := range []string{body("development", 1, "query_logging_ips", []string{"10.0.0.1", bad}), body("development", 1, "query_logging_ips", "10.0.0.1, "+bad+"\n::1")} {
			s.refused(t, put(form), http.StatusUnprocessableEntity, "invalid_ip", "query_logging_ips", bad, "10.0.0.0/8", `"index":1`)
		}
	}
	s.refused(t, put("{"), http.StatusBadRequest, "invalid_body", "JSON")
	s.refused(t, request{method: http.MethodPut, path: settingsPath, body: "{}", header: []string{"Content-Type", "text/xml"}}, http.StatusUnsupportedMediaType, "unsupported_media_type")
}

// pathsAreRefused tests 404, and 405, which names the allowed methods.
func (s *service) pathsAreRefused(t *testing.T) {
	none := errorsPath + "/" + strings.Repeat("0", 32)
	for _, path := range []string{"/api/v1/admin/tools/logs", errorsPath + "s", none + "/more", settingsPath + "/x", "/api/v2/admin/tools/logs/errors", "/nowhere"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			s.refused(t, request{method: method, path: path, key: "-"}, http.StatusNotFound, "not_found")
		}
	}
	for path, allowed := range map[string][]string{
		errorsPath: {"GET", "DELETE"}, none: {"GET"}, none + "/trend": {"GET"}, settingsPath: {"GET", "PUT"},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPost, http.MethodPatch, http.MethodDelete} {
			if slices.Contains(allowed, method) {
				continue
			}
			_, a := s.refused(t, request{method: method, path: path}, http.StatusMethodNotAllowed, "method_not_allowed", allowed...)
			for _, word := range allowed {
				if !strings.Contains(a.header.Get("Allow"), word) || strings.Contains(a.header.Get("Allow"), method) {
					t.Errorf("%s %s: Allow: %q, want %v", method, path, a.header.Get("Allow"), allowed)
				}
			}
		}
	}
	for path, allowed := range map[string]string{
		cleanupPath: "POST", cleanupPath + "/preview": "POST", statusPath: "POST", rebuildPath: "GET, HEAD, POST", errorsPath + "/trends": "GET, HEAD",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
			if strings.Contains(allowed, method) {
				continue
			}
			_, a := s.refused(t, request{method: method, path: path}, http.StatusMethodNotAllowed, "method_not_allowed", allowed)
			if got := a.header.Get("Allow"); got != allowed {
				t.Errorf("%s %s: Allow: %q, want %q", method, path, got, allowed)
			}
		}
	}
}

// scopes are the endpoints of the contract and of status changes, with the scope
// of each.
var scopes = []struct{ scope, method, path string }{
	{"Tools/GetErrorLogs", "GET", errorsPath},
	{"Tools/GetErrorLog", "GET", errorsPath + "/00000000000000000000000000000000"},
	{"Tools/DeleteErrorLogs", "DELETE", errorsPath},
	{"Tools/ClearErrorLogs", "POST", cleanupPath},
	{"Tools/RebuildErrorLogs", "POST", rebuildPath},
	{"Tools/GetLogSettings", "GET", settingsPath},
	{"Tools/UpdateLogSettings", "PUT", settingsPath},
	{"Tools/UpdateErrorStatus", "POST", statusPath},
}

// keysAreAskedFor: a key without the endpoint's scope is refused, and the answer
// names the scope; a key with only that scope is accepted. Without a valid key
// the answer gives no reason.
func (s *service) keysAreAskedFor(t *testing.T) {
	var all []string
	for _, c := range scopes {
		all = append(all, c.scope)
	}
	for i, c := range scopes {
		r := request{method: c.method, path: c.path, key: s.narrowKey(t, slices.Delete(slices.Clone(all), i, i+1)...)}
		f, _ := s.refused(t, r, http.StatusForbidden, "insufficient_scope", c.scope)
		if string(f.Details) != body("scope", c.scope) {
			t.Errorf("%s: details %s, want the scope %s", r, f.Details, c.scope)
		}
		r.key = s.Ingest
		s.refused(t, r, http.StatusForbidden, "insufficient_scope", c.scope)
		for _, scope := range []string{c.scope, "Tools/*", "*"} {
			r.key, r.body = s.narrowKey(t, scope), map[bool]string{true: "", false: "{}"}[c.method == http.MethodGet] // changes nothing
			if a := s.do(t, r); a.status == http.StatusForbidden || a.status == http.StatusUnauthorized {
				t.Errorf("%s: %d with the scope %s", r, a.status, scope)
			}
		}
	}
	last := map[bool]string{true: "0", false: "1"}[strings.HasSuffix(s.Admin, "1")]
	message := ""
	for i, key := range []string{"-", "nonsense", s.Admin + "x", s.Admin[:len(s.Admin)-1] + last, strings.ToUpper(s.Admin)} {
		c := scopes[i]
		f, _ := s.refused(t, request{method: c.method, path: c.path, key: key}, http.StatusUnauthorized, "unauthorized", "API key")
		if message == "" {
			message = f.Message
		}
		if f.Message != message || f.Details != nil {
			t.Errorf("%s: %+v, want the same for every key that does not work", c.path, f)
		}
	}
	if a := s.do(t, request{method: http.MethodGet, path: errorsPath, key: "-", header: []string{"X-Api-Key", s.Admin}}); a.status != http.StatusOK {
		t.Errorf("X-Api-Key: %d %s", a.status, a.body)
	}
	a := s.do(t, request{method: http.MethodGet, path: errorsPath, header: []string{"X-Request-Id", "mine-1"}})
	if got := a.header.Get("X-Request-Id"); got != "mine-1" {
		t.Errorf("the caller's request id comes back as %q", got)
	}
}

// TestRateLimit: a key that has used up its limit is told when to come back.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	const budget = 60
	s := start(t, func(o *app.Options) { o.AdminRateLimit = budget })
	other := s.narrowKey(t, "Tools/GetErrorLogs") // uses one of the limit
	for range budget - 1 {
		s.get(t, settingsPath)
	}
	for range 2 {
		_, a := s.refused(t, request{method: http.MethodGet, path: settingsPath}, http.StatusTooManyRequests, "rate_limited", "Retry-After")
		if a.header.Get("Retry-After") != "1" {
			t.Errorf("Retry-After: %q, want a second", a.header.Get("Retry-After"))
		}
	}
	if a := s.do(t, request{method: http.MethodGet, path: errorsPath, key: other}); a.status != http.StatusOK {
		t.Errorf("another key: %d %s", a.status, a.body)
	}
}
