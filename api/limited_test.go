package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
)

// reaches says what each route of the table does for a key that is limited to projects.
// Who adds a route chooses: what it shows or changes of projects, that it is about the
// whole service, or that it is about neither.
var reaches = map[api.Reach][]string{
	api.ReachReads: {
		"GET /api/v1/admin/whoami", "GET /api/v1/admin/keys", "GET /api/v1/admin/projects", "GET /api/v1/admin/projects/:project",
		"GET /api/v1/admin/tools/logs/errors", "GET /api/v1/admin/tools/logs/errors/trends", "GET /api/v1/admin/tools/logs/errors/stream",
		"GET /api/v1/admin/tools/logs/overview", "GET /api/v1/admin/tools/logs/errors/:signature",
		"GET /api/v1/admin/tools/logs/errors/:signature/trend", "GET /api/v1/admin/tools/logs/errors/:signature/trend/releases", "GET /api/v1/admin/tools/logs/errors/:signature/occurrences",
		"GET /api/v1/admin/tools/logs/errors/:signature/occurrences/:position", "GET /api/v1/admin/tools/logs/errors/:signature/facets",
		"GET /api/v1/admin/tools/logs/occurrences/:event_id", "POST /api/v1/admin/tools/logs/errors/cleanup/preview",
	},
	api.ReachChanges: {
		"POST /api/v1/admin/keys", "DELETE /api/v1/admin/keys/:id", "PATCH /api/v1/admin/projects/:project",
		"DELETE /api/v1/admin/tools/logs/errors", "POST /api/v1/admin/tools/logs/errors/cleanup", "POST /api/v1/admin/tools/logs/errors/status",
		"POST /mcp", // each tool reaches what its request to the API reaches
	},
	api.ReachOpen: {"GET /api/v1/admin/tools/logs/settings", "GET /api/v1/admin/noise-sets"},
}

// TestEveryRouteSaysWhatItReaches fails for a route that does not choose, and for one
// that the document does not describe as it is.
func TestEveryRouteSaysWhatItReaches(t *testing.T) {
	ops := operations(t)
	for _, r := range api.Routes() {
		name := r.Method + " " + r.Path
		want := api.ReachService
		if r.Admission == api.AdmitAll {
			want = api.ReachOpen
		}
		for reach, routes := range reaches {
			if slices.Contains(routes, name) {
				want = reach
			}
		}
		if r.Reach != want {
			t.Errorf("%s reaches %q, want %q", name, r.Reach, want)
		}
		op := ops[documented(r)]
		if op == nil {
			t.Errorf("%s: the document does not have it", name)
			continue
		}
		codes, _ := op.Extensions["x-errata-codes"].([]any)
		refuses := r.Reach == api.ReachService || name == "POST /api/v1/admin/keys"
		if slices.Contains(codes, any(string(errata.KindKeyIsLimited))) != refuses {
			t.Errorf("%s: key_is_limited is among its codes: %v, want %v", name, !refuses, refuses)
		}
	}
}

// TestLimitedKeyAndTheWholeService: a limited key that holds every scope is refused
// wherever the whole service is concerned, with HEAD too, and nowhere else.
func TestLimitedKeyAndTheWholeService(t *testing.T) {
	b := newBench(t, nil)
	_, limited := b.create(t, access.NewKey{Kind: access.KindAdmin, Scopes: []access.Scope{access.Everything}, Projects: []uint64{1}})
	for _, r := range api.Routes() {
		methods := []string{r.Method}
		if r.Method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
		for _, method := range methods {
			w := b.do(request{method: method, target: target(r), key: limited})
			refused := w.Code == http.StatusForbidden && (method == http.MethodHead || code(t, w) == "key_is_limited")
			if refused != (r.Reach == api.ReachService) {
				t.Errorf("%s %s, %s: got %d %s", method, r.Path, r.Reach, w.Code, w.Body)
			}
		}
	}
	golden(t, "key_is_limited", b.do(request{method: "GET", target: "/api/v1/admin/audit", key: limited, headers: []string{"X-Request-Id: r"}}))
}

// TestChangesOfALimitedKey: each change is about the projects of the key alone.
func TestChangesOfALimitedKey(t *testing.T) {
	b := newBench(t, nil)
	scopes := []access.Scope{access.Everything}
	b.create(t, access.NewKey{Kind: access.KindIngest, Project: 2})
	_, limited := b.create(t, access.NewKey{Kind: access.KindAdmin, Scopes: scopes, Projects: []uint64{1, 2}})
	_, all := b.create(t, access.NewKey{Kind: access.KindAdmin, Scopes: scopes})
	const errors = "/api/v1/admin/tools/logs/errors"
	for _, c := range []struct {
		key, method, target, body string
		status                    int
		projects                  []uint64
	}{
		{limited, "DELETE", errors, `{"signatures":["` + someHex + `"]}`, 200, []uint64{1, 2}},
		{limited, "POST", errors + "/status", `{"signatures":["` + someHex + `"],"status":"muted"}`, 200, []uint64{1, 2}},
		{limited, "POST", errors + "/cleanup", `{"before":"2026-01-01"}`, 200, []uint64{1, 2}},
		{limited, "POST", errors + "/cleanup", `{"before":"2026-01-01","project":"2"}`, 200, []uint64{2}},
		{limited, "POST", errors + "/cleanup", `{"before":"2026-01-01","project":"3"}`, 422, nil},
		{limited, "POST", errors + "/cleanup/preview", `{"before":"2026-01-01","project":"3"}`, 422, nil},
		{all, "DELETE", errors, `{"signatures":["` + someHex + `"]}`, 200, nil},
		{all, "POST", errors + "/status", `{"signatures":["` + someHex + `"],"status":"muted"}`, 200, nil},
		{all, "POST", errors + "/cleanup", `{"before":"2026-01-01"}`, 200, nil},
		{all, "POST", errors + "/cleanup", `{"before":"2026-01-01","project":"project-1"}`, 200, []uint64{1}},
		{all, "POST", errors + "/cleanup", `{"before":"2026-01-01","project":"nobody"}`, 422, nil},
		{all, "POST", errors + "/cleanup", `{"before":"2026-01-01","project":""}`, 422, nil},
		{all, "POST", errors + "/cleanup", `{"before":"2026-01-01","project":2}`, 400, nil},
		{all, "POST", errors + "/cleanup/preview", `{"before":"2026-01-01","project":"nobody"}`, 422, nil},
	} {
		before := b.changes.calls
		b.changes.projects = []uint64{99}
		w := b.do(request{method: c.method, target: c.target, key: c.key, body: c.body, headers: []string{"Content-Type: application/json"}})
		if w.Code != c.status || c.status == 422 && code(t, w) != "invalid_project" {
			t.Errorf("%s %s: got %d %s, want %d", c.target, c.body, w.Code, w.Body, c.status)
		}
		if c.status != 200 {
			if b.changes.calls != before {
				t.Errorf("%s %s: it reaches the log", c.target, c.body)
			}
			continue
		}
		if diff := cmp.Diff(c.projects, b.changes.projects); diff != "" {
			t.Errorf("%s %s: projects\n%s", c.target, c.body, diff)
		}
	}
}

// TestKeysOfALimitedKey: it sees, makes and ends keys of its projects.
func TestKeysOfALimitedKey(t *testing.T) {
	b := newBench(t, nil)
	everything := []access.Scope{access.Everything}
	mine, _ := b.create(t, access.NewKey{Kind: access.KindIngest, Project: 2})
	foreign, _ := b.create(t, access.NewKey{Kind: access.KindIngest, Project: 3})
	root, rootText := b.create(t, access.NewKey{Kind: access.KindAdmin, Scopes: everything})
	ops, _ := b.create(t, access.NewKey{Kind: access.KindOps})
	wider, _ := b.create(t, access.NewKey{Kind: access.KindAdmin, Scopes: everything, Projects: []uint64{2, 3}})
	holder, limited := b.create(t, access.NewKey{Kind: access.KindAdmin, Scopes: everything, Projects: []uint64{2, 1}})

	list := b.do(request{method: "GET", target: keysPath, key: limited}).Body.String()
	for _, key := range []access.Key{mine, holder} {
		if !strings.Contains(list, key.ID) {
			t.Errorf("the list lacks %+v", key)
		}
	}
	for _, key := range []access.Key{foreign, root, ops, wider} {
		if strings.Contains(list, key.ID) || key.PublicKey != "" && strings.Contains(list, key.PublicKey) {
			t.Errorf("the list shows %+v", key)
		}
		w := b.do(request{method: "DELETE", target: keysPath + "/" + key.ID, key: limited})
		unknown := b.do(request{method: "DELETE", target: keysPath + "/000000000000", key: limited})
		if w.Code != http.StatusNotFound || code(t, w) != code(t, unknown) {
			t.Errorf("ending %+v: got %d %s", key, w.Code, w.Body)
		}
	}
	if w := b.do(request{method: "DELETE", target: keysPath + "/" + mine.ID, key: limited}); w.Code != http.StatusOK {
		t.Errorf("ending its own project's key: got %d %s", w.Code, w.Body)
	}

	for _, c := range []struct {
		maker, body string
		status      int
		code        string
		projects    []uint64
	}{
		{limited, `{"name":"x","kind":"ing","project":2}`, 201, "", []uint64{}},
		{limited, `{"name":"x","kind":"ing","project":3}`, 403, "key_is_limited", nil},
		{limited, `{"name":"x","kind":"ing"}`, 403, "key_is_limited", nil}, // of a new project
		{limited, `{"name":"x","kind":"ops"}`, 403, "key_is_limited", nil},
		{limited, `{"name":"x","kind":"adm","scopes":["*"]}`, 201, "", []uint64{1, 2}},
		{limited, `{"name":"x","kind":"adm","scopes":["*"],"projects":[2]}`, 201, "", []uint64{2}},
		{limited, `{"name":"x","kind":"adm","scopes":["*"],"projects":[2,3]}`, 403, "key_is_limited", nil},
		{rootText, `{"name":"x","kind":"adm","scopes":["*"],"projects":[3,2,3]}`, 201, "", []uint64{2, 3}},
		{rootText, `{"name":"x","kind":"adm","scopes":["*"],"projects":null}`, 201, "", []uint64{}},
		{rootText, `{"name":"x","kind":"adm","scopes":["*"],"projects":[2,4]}`, 422, "invalid_project", nil},
		{rootText, `{"name":"x","kind":"ops","projects":[2]}`, 422, "invalid_project", nil},
		{rootText, `{"name":"x","kind":"adm","scopes":["*"],"projects":["shop"]}`, 400, "invalid_body", nil},
	} {
		made, status, got := b.post(t, c.maker, c.body)
		if status != c.status || got != c.code {
			t.Errorf("%s: got %d %s, want %d %s", c.body, status, got, c.status, c.code)
		}
		if diff := cmp.Diff(c.projects, made.Data.Projects); diff != "" {
			t.Errorf("%s: projects\n%s", c.body, diff)
		}
	}
}

// TestProjectsOfALimitedKey: other projects do not exist for it.
func TestProjectsOfALimitedKey(t *testing.T) {
	b := newBench(t, nil)
	everything := []access.Scope{access.Everything}
	b.create(t, access.NewKey{Kind: access.KindIngest, Project: 2})
	_, limited := b.create(t, access.NewKey{Kind: access.KindAdmin, Scopes: everything, Projects: []uint64{2}})
	if list := b.do(request{method: "GET", target: projectsPath, key: limited}).Body.String(); !strings.Contains(list, "project-2") || strings.Contains(list, "project-1") {
		t.Errorf("the list: %s", list)
	}
	for _, ref := range []string{"1", "project-1"} {
		for method, body := range map[string]string{"GET": "", "PATCH": `{"archived":true}`} {
			_, status, got := b.askProject(t, limited, method, projectsPath+"/"+ref, body)
			_, unknown, same := b.askProject(t, limited, method, projectsPath+"/nobody", body)
			if status != http.StatusNotFound || status != unknown || got != same {
				t.Errorf("%s %s: got %d %s, an unknown one %d %s", method, ref, status, got, unknown, same)
			}
		}
	}
	if p, status, _ := b.askProject(t, limited, "PATCH", projectsPath+"/project-2", `{"slug":"shop"}`); status != http.StatusOK || p.Data.Slug != "shop" {
		t.Errorf("its own project: got %d %+v", status, p)
	}
	if p, status, _ := b.askProject(t, b.key(t, access.Everything), "GET", projectsPath+"/1", ""); status != http.StatusOK || p.Data.Archived {
		t.Errorf("the other project: got %d %+v", status, p)
	}
}

// TestRepeatsByAnotherKey: an Idempotency-Key is the caller's own, so another key never
// gets the answer of the first.
func TestRepeatsByAnotherKey(t *testing.T) {
	b := newBench(t, nil)
	everything := []access.Scope{access.Everything}
	_, all := b.create(t, access.NewKey{Kind: access.KindAdmin, Scopes: everything})
	_, limited := b.create(t, access.NewKey{Kind: access.KindAdmin, Scopes: everything, Projects: []uint64{1}})
	b.changes.answer = errata.Changed{System: 7}
	again := func(key string) (replayed bool, body string) {
		w := b.do(request{
			method: "POST", target: "/api/v1/admin/tools/logs/errors/cleanup", key: key, body: `{"before":"2026-01-01"}`,
			headers: []string{"Content-Type: application/json", "Idempotency-Key: the same one"},
		})
		return w.Header().Get("Idempotency-Replayed") != "", w.Body.String()
	}
	again(all)
	b.changes.answer = errata.Changed{System: 1}
	if replayed, body := again(limited); replayed || strings.Contains(body, "7") {
		t.Errorf("the other key gets %s, replayed: %v", body, replayed)
	}
	if replayed, body := again(all); !replayed || !strings.Contains(body, "7") {
		t.Errorf("the first key gets %s, replayed: %v", body, replayed)
	}
}

// TestAlarmsOfALimitedKey: what alarms say can name keys and records of any project.
func TestAlarmsOfALimitedKey(t *testing.T) {
	b := newBench(t, nil)
	b.health.alarms = []errata.Alarm{{Name: "records-wrong", Detail: "signature " + someHex, Hint: "look at " + someHex, Since: errata.Instant(start)}}
	_, limited := b.create(t, access.NewKey{Kind: access.KindAdmin, Scopes: []access.Scope{access.Everything}, Projects: []uint64{1}})
	w := b.do(request{method: "GET", target: "/api/v1/admin/whoami", key: limited})
	if body := w.Body.String(); strings.Contains(body, someHex) || !strings.Contains(body, "records-wrong") {
		t.Errorf("whoami: %s", body)
	}
}
