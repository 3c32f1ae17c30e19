package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/projects"
)

const projectsPath = "/api/v1/admin/projects"

// projectFacts keeps projects in memory.
type projectFacts struct {
	mu  sync.Mutex
	all projects.Set
}

func (f *projectFacts) Projects() projects.Set {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.all
}

func (f *projectFacts) ReadProjects(context.Context) (projects.Set, error) {
	return f.Projects(), nil
}

func (f *projectFacts) UpdateProject(_ context.Context, change func(projects.Set) (projects.Project, error)) (projects.Project, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, err := change(f.all)
	if err == nil {
		f.all = f.all.With(p)
	}
	return p, err
}

// newProjects is a service whose number 1 is used by events without a key.
func newProjects(t testing.TB, b *bench) *projects.Service {
	t.Helper()
	service, err := projects.NewService(projects.Config{Facts: &projectFacts{}, Keys: b.keys, Numbers: []uint64{1}, Now: b.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	return service
}

// claimFirst takes the number 1, as the start of a service does.
func (b *bench) claimFirst(t *testing.T) {
	t.Helper()
	if _, err := b.keys.ClaimProject(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
}

// projectAnswer is a project in an answer.
type projectAnswer struct {
	Data struct {
		ID                   uint64
		Slug, Name, DSN, Key string
		Archived             bool
		RetentionDays        int `json:"retention_days"`
		Limits               map[string]*int
		Noise                []projects.Rule
		Context              projects.Context
	}
}

// askProject sends a request with a body and returns the answer.
func (b *bench) askProject(t *testing.T, key, method, target, body string) (p projectAnswer, status int, failed string) {
	t.Helper()
	w := b.do(request{method: method, target: target, key: key, body: body, headers: []string{"Content-Type: application/json"}})
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatalf("%s %s %s: %v\n%s", method, target, body, err, w.Body)
	}
	return p, w.Code, code(t, w)
}

func TestProjectsFromMakingToArchiving(t *testing.T) {
	b := newBench(t, func(c *api.Config) { c.PublicURL = "https://errata.example" })
	b.claimFirst(t)
	admin := b.key(t, "Projects/*")
	w := b.do(request{method: "POST", target: projectsPath, key: admin, body: `{"name": " Web Shop ", "platform": "go", "id": 9}`,
		headers: []string{"Content-Type: application/json"}})
	golden(t, "project_created", w)
	var made projectAnswer
	if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil {
		t.Fatal(err)
	}
	sender, err := b.keys.Authenticate(made.Data.Key)
	if err != nil || sender.Project != made.Data.ID || !sender.Allows(access.EventsWrite) || sender.DSN("https", "errata.example") != made.Data.DSN {
		t.Errorf("the key that was made with the project: %+v, %v", sender, err)
	}
	if p, status, _ := b.askProject(t, admin, "GET", projectsPath+"/Web-Shop", ""); status != 200 || p.Data.DSN != made.Data.DSN || p.Data.Key != "" {
		t.Errorf("read by its slug: %d %+v", status, p.Data)
	}
	p, status, _ := b.askProject(t, admin, "PATCH", projectsPath+"/2", `{"archived": 1, "retention_days": 90, "limits": {"events_per_minute": 600, "other": 1},
		"noise": [{"field": "class", "match": "Bot*", "action": "drop"}], "dsn": "x", "id": 7, "created_at": null}`)
	if status != 200 || p.Data.ID != 2 || !p.Data.Archived || p.Data.RetentionDays != 90 || *p.Data.Limits["events_per_minute"] != 600 ||
		p.Data.Limits["new_records_per_hour"] != nil || len(p.Data.Noise) != 1 || p.Data.DSN != made.Data.DSN {
		t.Errorf("changed: %d %+v", status, p.Data)
	}
	w = b.do(request{method: "GET", target: projectsPath, key: admin})
	golden(t, "project_list", w)

	// What was read can be put back.
	w = b.do(request{method: "GET", target: projectsPath + "/web-shop", key: admin})
	var whole struct{ Data json.RawMessage }
	if err := json.Unmarshal(w.Body.Bytes(), &whole); err != nil {
		t.Fatal(err)
	}
	back := b.do(request{method: "PATCH", target: projectsPath + "/web-shop", key: admin, body: string(whole.Data), headers: []string{"Content-Type: application/json"}})
	if back.Code != http.StatusOK || back.Body.String() != w.Body.String() {
		t.Errorf("put back: %d %s", back.Code, back.Body)
	}
	if err := b.keys.Revoke(t.Context(), sender.ID); err != nil {
		t.Fatal(err)
	}
	if p, _, _ := b.askProject(t, admin, "GET", projectsPath+"/2", ""); p.Data.DSN != "" {
		t.Errorf("without a key that works the DSN is %q", p.Data.DSN)
	}
}

func TestProjectBodiesAreChecked(t *testing.T) {
	b := newBench(t, nil)
	b.claimFirst(t)
	admin := b.key(t, access.ProjectsManage)
	for _, name := range []string{"shop", "desk"} {
		if _, status, got := b.askProject(t, admin, "POST", projectsPath, `{"name":"`+name+`"}`); status != 201 {
			t.Fatal(status, got)
		}
	}
	for _, c := range []struct {
		method, ref, body string
		status            int
		code, field       string
	}{
		{"POST", "", ``, 422, "invalid_name", "name"},
		{"POST", "", `{"name":"\u0007"}`, 422, "invalid_name", "name"},
		{"POST", "", `{"name":7}`, 400, "invalid_body", "name"},
		{"POST", "", `{"name":"x","platform":"Go 1"}`, 422, "invalid_platform", "platform"},
		{"PATCH", "/2", `{}`, 200, "", ""},
		{"PATCH", "/2", `{"Name":"ignored"}`, 200, "", ""},
		{"PATCH", "/99", `{}`, 404, "not_found", ""},
		{"PATCH", "/nobody", `{}`, 404, "not_found", ""},
		{"PATCH", "/2", `{"name":null}`, 400, "invalid_body", "name"},
		{"PATCH", "/2", `{"name":""}`, 422, "invalid_name", "name"},
		{"PATCH", "/2", `{"slug":"desk"}`, 422, "invalid_slug", "slug"},
		{"PATCH", "/2", `{"slug":"7"}`, 422, "invalid_slug", "slug"},
		{"PATCH", "/2", `{"archived":2}`, 422, "invalid_boolean", "archived"},
		{"PATCH", "/2", `{"archived":"yes"}`, 400, "invalid_body", "archived"},
		{"PATCH", "/2", `{"retention_days":-1}`, 422, "invalid_number", "retention_days"},
		{"PATCH", "/2", `{"retention_days":1.5}`, 400, "invalid_body", "retention_days"},
		{"PATCH", "/2", `{"retention_days":null}`, 400, "invalid_body", "retention_days"},
		{"PATCH", "/2", `{"occurrence_days":0}`, 422, "invalid_number", "occurrence_days"},
		{"PATCH", "/2", `{"limits":{"events_per_minute":-1}}`, 422, "invalid_number", "limits.events_per_minute"},
		{"PATCH", "/2", `{"limits":{"new_records_per_hour":1000000001}}`, 422, "invalid_number", "limits.new_records_per_hour"},
		{"PATCH", "/2", `{"limits":{"new_records_per_hour":"many"}}`, 400, "invalid_body", "limits.new_records_per_hour"},
		{"PATCH", "/2", `{"limits":[]}`, 400, "invalid_body", "limits"},
		{"PATCH", "/2", `{"noise":{}}`, 400, "invalid_body", "noise"},
		{"PATCH", "/2", `{"noise":[7]}`, 400, "invalid_body", "noise[0]"},
		{"PATCH", "/2", `{"noise":[{"field":"class","match":"x"}]}`, 400, "invalid_body", "noise[0].action"},
		{"PATCH", "/2", `{"noise":[{"field":"class","match":"x","action":"drop"},{"field":"level","match":"x","action":"drop"}]}`, 422, "invalid_noise_rule", "noise[1].field"},
		{"PATCH", "/2", `{"noise":[{"set":"weather","action":"drop"}]}`, 422, "invalid_noise_rule", "noise[0].set"},
		{"PATCH", "/2", `{"noise":[{"set":"crawlers","match":"x","action":"drop"}]}`, 422, "invalid_noise_rule", "noise[0].set"},
		{"PATCH", "/2", `{"noise":[{"field":"class","match":"*","action":"drop"}]}`, 422, "invalid_noise_rule", "noise[0].match"},
	} {
		w := b.do(request{method: c.method, target: projectsPath + c.ref, key: admin, body: c.body, headers: []string{"Content-Type: application/json"}})
		var told struct {
			Error struct{ Details struct{ Field string } }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &told); err != nil {
			t.Fatal(err)
		}
		if w.Code != c.status || code(t, w) != c.code || told.Error.Details.Field != c.field {
			t.Errorf("%s %s: got %d %s, want %d %s %s", c.method, c.body, w.Code, w.Body, c.status, c.code, c.field)
		}
	}
	if p, _, _ := b.askProject(t, b.key(t, access.ProjectsRead), "GET", projectsPath+"/2", ""); p.Data.Name != "shop" || p.Data.Slug != "shop" {
		t.Errorf("after refused changes: %+v", p.Data)
	}
}

// A repeat of the request that made a project gets the same project and the same key.
func TestProjectIsMadeOnce(t *testing.T) {
	b := newBench(t, nil)
	admin := b.key(t, "Projects/*")
	var bodies []string
	for range 2 {
		w := b.do(request{method: "POST", target: projectsPath, key: admin, body: `{"name":"shop"}`,
			headers: []string{"Content-Type: application/json", "Idempotency-Key: 0123456789"}})
		bodies = append(bodies, w.Body.String())
	}
	if bodies[0] != bodies[1] || !strings.Contains(bodies[0], `"key":"eik_ing_`) {
		t.Errorf("first %s, then %s", bodies[0], bodies[1])
	}
}

// TestContextOfAProject: switches that are not sent stay, and what is wrong is named.
func TestContextOfAProject(t *testing.T) {
	b := newBench(t, nil)
	b.claimFirst(t)
	admin := b.key(t, "Projects/*")
	if _, status, failed := b.askProject(t, admin, "POST", projectsPath, `{"name":"shop"}`); status != 201 {
		t.Fatal(status, failed)
	}
	for _, c := range []struct {
		body, code string
		want       projects.Context
	}{
		{`{"users":false,"vars":"off"}`, "", projects.Context{NoUsers: true, Vars: projects.VarsOff}},
		{`{"vars":"all"}`, "invalid_context", projects.Context{}},
		{`{"vars":null}`, "invalid_body", projects.Context{}},
		{`{"extra":2}`, "invalid_boolean", projects.Context{}},
		{`[]`, "invalid_body", projects.Context{}},
		{`{"extra":0,"vars":"values","colours":1}`, "", projects.Context{NoUsers: true, NoExtra: true, Vars: projects.VarsValues}},
		{`{}`, "", projects.Context{NoUsers: true, NoExtra: true, Vars: projects.VarsValues}},
	} {
		p, status, failed := b.askProject(t, admin, "PATCH", projectsPath+"/2", `{"context":`+c.body+`}`)
		if failed != c.code || (status == 200) != (c.code == "") || p.Data.Context != c.want {
			t.Errorf("%s: %d %s %+v, want %s %+v", c.body, status, failed, p.Data.Context, c.code, c.want)
		}
	}
}
