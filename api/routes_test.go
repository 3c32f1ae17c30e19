package api_test

import (
	"cmp"
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
)

func TestEveryRouteSaysWhoMayPass(t *testing.T) {
	open := []string{
		"GET /", "GET /assets/*name", "POST /api/v1/csp-reports", "GET /api/v1/admin/ping", "GET /healthz", "GET /readyz",
		"GET /api/v1/openapi.json", "GET /api/v1/docs", "GET /api/v1/docs/explorer.js", "GET /api/v1/docs/explorer.css",
	}
	local, anyKey := []string{"GET /metrics"}, []string{"GET /api/v1/admin/whoami", "POST /mcp"}
	seen := map[string]bool{}
	for _, r := range api.Routes() {
		name := r.Method + " " + r.Path
		if seen[name] {
			t.Errorf("%s stands in the table twice", name)
		}
		seen[name] = true
		want := api.AdmitByScope
		switch {
		case slices.Contains(open, name):
			want = api.AdmitAll
		case slices.Contains(local, name):
			want = api.AdmitLocal
		case slices.Contains(anyKey, name):
			want = api.AdmitAnyKey
		}
		if r.Admission != want {
			t.Errorf("%s admits %q, want %q", name, r.Admission, want)
		}
		if needsScope := want != api.AdmitAll && want != api.AdmitAnyKey; needsScope != slices.Contains(access.Scopes, r.Scope) {
			t.Errorf("%s has scope %q", name, r.Scope)
		}
	}
}

// contract has the fourteen routes of the first contract with their numbers
// there, A1 to B7.
var contract = []struct {
	name, method, path string
	scope              access.Scope
}{
	{"A1", "GET", "/api/v1/admin/settings/security/two-factor", "Settings/GetTwoFactor"},
	{"A2", "PUT", "/api/v1/admin/settings/security/two-factor", "Settings/UpdateTwoFactor"},
	{"A3", "GET", "/api/v1/admin/settings/security/two-factor/methods", "Settings/GetTwoFactorMethods"},
	{"A4", "GET", "/api/v1/admin/settings/security/location-verification", "Settings/GetLocationVerification"},
	{"A5", "PUT", "/api/v1/admin/settings/security/location-verification", "Settings/UpdateLocationVerification"},
	{"A6", "GET", "/api/v1/admin/settings/security/ip-verification", "Settings/GetIpVerification"},
	{"A7", "PUT", "/api/v1/admin/settings/security/ip-verification", "Settings/UpdateIpVerification"},
	{"B1", "GET", "/api/v1/admin/tools/logs/errors", "Tools/GetErrorLogs"},
	{"B2", "GET", "/api/v1/admin/tools/logs/errors/:signature", "Tools/GetErrorLog"},
	{"B3", "DELETE", "/api/v1/admin/tools/logs/errors", "Tools/DeleteErrorLogs"},
	{"B4", "POST", "/api/v1/admin/tools/logs/errors/cleanup", "Tools/ClearErrorLogs"},
	{"B5", "POST", "/api/v1/admin/tools/logs/errors/rebuild", "Tools/RebuildErrorLogs"},
	{"B6", "GET", "/api/v1/admin/tools/logs/settings", "Tools/GetLogSettings"},
	{"B7", "PUT", "/api/v1/admin/tools/logs/settings", "Tools/UpdateLogSettings"},
}

func TestContractStandsInTheTable(t *testing.T) {
	table := map[string]api.Route{}
	for _, r := range api.Routes() {
		table[r.Method+" "+r.Path] = r
	}
	for _, c := range contract {
		r, found := table[c.method+" "+c.path]
		if !found || r.Scope != c.scope {
			t.Errorf("%s: found %v, scope %q, want scope %q", c.name, found, r.Scope, c.scope)
		}
	}
}

// reached is the status of a route when the key may use it, without a body and
// with the parameters of target. A route that is not named answers 200.
var reached = map[string]int{
	"POST /api/v1/admin/ops/dead/replay": http.StatusBadRequest,
	"POST /api/v1/admin/ops/dead/drop":   http.StatusBadRequest,
	"POST /api/v1/admin/ops/log/accept":  http.StatusBadRequest,          // nobody who decides
	"POST /api/v1/admin/keys":            http.StatusUnprocessableEntity, // a key without a name
	"DELETE /api/v1/admin/keys/:id":      http.StatusNotFound,
	"POST /api/v1/admin/projects":        http.StatusUnprocessableEntity, // a project without a name
	"GET /assets/*name":                  http.StatusNotFound,

	"POST /api/v1/admin/alerts/rules":             http.StatusUnprocessableEntity, // a rule without a name
	"POST /api/v1/admin/alerts/rules/preview":     http.StatusUnprocessableEntity, // likewise without a condition
	"PATCH /api/v1/admin/alerts/rules/:id":        http.StatusNotFound,
	"DELETE /api/v1/admin/alerts/rules/:id":       http.StatusNotFound,
	"POST /api/v1/admin/alerts/rules/:id/test":    http.StatusNotFound,
	"POST /api/v1/admin/alerts/channels":          http.StatusUnprocessableEntity,
	"PATCH /api/v1/admin/alerts/channels/:id":     http.StatusNotFound,
	"DELETE /api/v1/admin/alerts/channels/:id":    http.StatusNotFound,
	"POST /api/v1/admin/alerts/channels/:id/test": http.StatusNotFound,

	// Without a body:
	"POST /api/v1/csp-reports":                             http.StatusBadRequest,
	"POST /api/v1/admin/settings/mail/test":                http.StatusUnprocessableEntity,
	"POST /api/v1/sign-in/challenges":                      http.StatusUnprocessableEntity,
	"POST /api/v1/sign-in/challenges/:id/verify":           http.StatusUnprocessableEntity,
	"POST /api/v1/sign-in/authenticators":                  http.StatusUnprocessableEntity,
	"POST /api/v1/sign-in/authenticators/confirm":          http.StatusUnprocessableEntity,
	"POST /api/v1/sign-in/authenticators/verify":           http.StatusUnprocessableEntity,
	"DELETE /api/v1/sign-in/authenticators":                http.StatusUnprocessableEntity,
	"POST /api/v1/sign-in/evaluate":                        http.StatusBadRequest,
	"POST /api/v1/sign-in/outcomes":                        http.StatusBadRequest,
	"DELETE /api/v1/admin/tools/logs/errors":               http.StatusUnprocessableEntity,
	"POST /api/v1/admin/tools/logs/errors/cleanup":         http.StatusUnprocessableEntity,
	"GET /api/v1/admin/tools/logs/errors/trends":           http.StatusUnprocessableEntity,
	"POST /api/v1/admin/tools/logs/errors/cleanup/preview": http.StatusUnprocessableEntity,
	"POST /api/v1/admin/tools/logs/errors/status":          http.StatusUnprocessableEntity,
	"POST /mcp":                          http.StatusBadRequest,
	"POST /api/v1/admin/ops/erase":       http.StatusUnprocessableEntity,
	"POST /api/v1/admin/ops/nodes/leave": http.StatusUnprocessableEntity,
}

func target(r api.Route) string {
	return strings.NewReplacer(
		":signature", "0123456789abcdef0123456789abcdef",
		":id", "000000000000",
		":project", "1",
		"*name", "nothing.js",
	).Replace(r.Path)
}

// caller is somebody who tries a route, and how far they should get.
type caller struct {
	who, key string
	reaches  barrier
}

type barrier int

const (
	stoppedByKey   barrier = iota // 401
	stoppedByScope                // 403
	reachesHandler
)

// strangers are callers that may use open routes only, and one that may use
// every route.
func strangers(t *testing.T, b *bench) []caller {
	t.Helper()
	everything := []access.Scope{access.Everything}
	_, expired := b.create(t, access.NewKey{Kind: access.KindAdmin, Scopes: everything, ExpiresAt: start.Add(time.Minute)})
	revokedKey, revoked := b.create(t, access.NewKey{Kind: access.KindAdmin, Scopes: everything})
	_, ingest := b.create(t, access.NewKey{Kind: access.KindIngest})
	other, err := access.Mint(rand.Reader, access.KindAdmin) // of another service
	if err != nil {
		t.Fatal(err)
	}
	b.clock.Move(time.Hour)
	if err := b.keys.Revoke(t.Context(), revokedKey.ID); err != nil {
		t.Fatal(err)
	}
	return []caller{
		{"no key", "", stoppedByKey},
		{"no key at all like ours", "hunter2", stoppedByKey},
		{"unknown key", other.Text(), stoppedByKey},
		{"expired key", expired, stoppedByKey},
		{"revoked key", revoked, stoppedByKey},
		{"ingest key", ingest, stoppedByScope},
		{"key with everything", b.key(t, access.Everything), reachesHandler},
	}
}

// holders are callers with scopes made for one route.
func holders(t *testing.T, b *bench, scope access.Scope) []caller {
	t.Helper()
	if scope == "" {
		return nil
	}
	group, _, _ := strings.Cut(string(scope), "/")
	others := slices.DeleteFunc(slices.Clone(access.Scopes), func(s access.Scope) bool { return s == scope })
	return []caller{
		{"key with just this scope", b.key(t, scope), reachesHandler},
		{"key with the group", b.key(t, access.Scope(group+"/*")), reachesHandler},
		{"key with all other scopes", b.key(t, others...), stoppedByScope},
	}
}

func TestWhoMayPass(t *testing.T) {
	b := newBench(t, nil)
	everyRoute := strangers(t, b)
	for _, r := range api.Routes() {
		ok := cmp.Or(reached[r.Method+" "+r.Path], http.StatusOK)
		methods := []string{r.Method}
		if r.Method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
		for _, c := range slices.Concat(everyRoute, holders(t, b, r.Scope)) {
			want := ok
			switch {
			case r.Admission == api.AdmitAll:
			case c.reaches == stoppedByKey:
				want = http.StatusUnauthorized
			case c.reaches == stoppedByScope:
				want = http.StatusForbidden
			}
			for _, method := range methods {
				if w := b.do(request{method: method, target: target(r), key: c.key}); w.Code != want {
					t.Errorf("%s %s, %s: got %d, want %d\n%s", method, r.Path, c.who, w.Code, want, w.Body)
				}
			}
		}
	}
}

func TestUnauthorizedAnswersAreOne(t *testing.T) {
	b := newBench(t, nil)
	_, expired := b.create(t, access.NewKey{Kind: access.KindAdmin, Scopes: []access.Scope{access.Everything}, ExpiresAt: start.Add(time.Minute)})
	good := b.key(t, access.Everything)
	b.clock.Move(time.Hour)
	var first string
	for _, headers := range [][]string{
		{},
		{"Authorization: "},
		{"Authorization: Bearer"},
		{"Authorization: Bearer " + expired},
		{"Authorization: Bearer " + good[:len(good)-1]},
		{"Authorization: Bearer " + strings.Replace(good, "adm", "ops", 1)},
		{"Authorization: Basic " + good},
		{"Authorization: " + good},
		{"X-Api-Key: " + expired},
		{"X-Api-Key: nonsense"},
	} {
		w := b.do(request{method: "GET", target: "/api/v1/admin/keys", headers: append(headers, "X-Request-Id: same")})
		var answer strings.Builder
		if err := w.Result().Header.Write(&answer); err != nil {
			t.Fatal(err)
		}
		answer.WriteString(w.Body.String())
		if first == "" {
			first = answer.String()
			golden(t, "unauthorized", w)
		}
		if w.Code != http.StatusUnauthorized || answer.String() != first {
			t.Errorf("%v: got %d\n%s\nwant 401\n%s", headers, w.Code, answer.String(), first)
		}
	}
}

func TestWaysToSendTheKey(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.KeysManage)
	for _, headers := range [][]string{
		{"Authorization: Bearer " + key},
		{"Authorization: bearer   " + key + " "},
		{"X-Api-Key: " + key},
		{"Authorization: Basic dXNlcjpwYXNz", "X-Api-Key: " + key}, // a proxy's own password stays
	} {
		if w := b.do(request{method: "GET", target: "/api/v1/admin/keys", headers: headers}); w.Code != http.StatusOK {
			t.Errorf("%s: got %d, want 200", headers[0][:20], w.Code)
		}
	}
	w := b.do(request{method: "GET", target: "/api/v1/admin/keys?key=" + key + "&api_key=" + key + "&access_token=" + key})
	if w.Code != http.StatusUnauthorized {
		t.Errorf("a key in the query, where every proxy logs it: got %d, want 401", w.Code)
	}
}

func TestWhatIsNotThere(t *testing.T) {
	b := newBench(t, nil)
	for _, path := range []string{"/nothing", "/api/v1/admin/tools/logs/errors/", "/api/v1/admin/", "/api/v2/admin/ping", "//", "/api/v1/events"} {
		w := b.do(request{method: "GET", target: path})
		if w.Code != http.StatusNotFound || code(t, w) != "not_found" {
			t.Errorf("GET %s: got %d %s, want 404 not_found", path, w.Code, w.Body)
		}
	}
	for _, c := range []struct{ method, path, allow string }{
		{"PATCH", "/api/v1/admin/tools/logs/errors", "DELETE, GET, HEAD"},
		{"OPTIONS", "/api/v1/admin/tools/logs/errors/cleanup", "POST"},
		{"DELETE", "/healthz", "GET, HEAD"},
		{"BREW", "/", "GET, HEAD"},
	} {
		w := b.do(request{method: c.method, target: c.path})
		allow := strings.Split(w.Header().Get("Allow"), ", ")
		slices.Sort(allow)
		if w.Code != http.StatusMethodNotAllowed || code(t, w) != "method_not_allowed" || strings.Join(allow, ", ") != c.allow {
			t.Errorf("%s %s: got %d, Allow %q, %s", c.method, c.path, w.Code, allow, w.Body)
		}
		if w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s %s: without the usual headers", c.method, c.path)
		}
	}
}
