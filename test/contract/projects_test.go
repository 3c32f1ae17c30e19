package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/errata-log/errata/test/servicetest"
)

const projectsPath = "/api/v1/admin/projects"

// madeProject is a project in an answer.
type madeProject struct {
	ID                   uint64
	Slug, Name, DSN, Key string
	Archived             bool
}

func (s *service) projects(t *testing.T) (all []madeProject) {
	t.Helper()
	if err := json.Unmarshal([]byte(s.get(t, projectsPath)), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestProjects: the first start makes one; a new one gets events through its key and its
// DSN until it is archived, and again after that; every change is in the audit trail; and
// a service that starts again knows them.
func TestProjects(t *testing.T) {
	t.Parallel()
	s := start(t)
	first := s.projects(t)
	if len(first) != 1 || first[0].ID != 1 || first[0].Slug != "default" || first[0].DSN != s.File(t, "keys/dsn") {
		t.Fatalf("after the first start: %+v", first)
	}
	made := s.do(t, request{method: http.MethodPost, path: projectsPath, body: `{"name":"Order Desk","platform":"go"}`})
	var desk struct{ Data madeProject }
	if err := json.Unmarshal([]byte(made.body), &desk); err != nil || made.status != http.StatusCreated || desk.Data.ID != 2 || desk.Data.Slug != "order-desk" {
		t.Fatalf("made: %d %s (%v)", made.status, made.body, err)
	}
	public, _, _ := strings.Cut(strings.TrimPrefix(desk.Data.DSN, "http://"), "@")
	native := request{method: http.MethodPost, path: eventsPath, key: desk.Data.Key, body: `{"message":"order failed"}`}
	envelope := request{
		method: http.MethodPost, path: "/api/2/envelope/", key: "-", body: "{}\n{\"type\":\"event\"}\n{\"message\":\"desk broke\"}",
		header: []string{"X-Sentry-Auth", "Sentry sentry_key=" + public, "Content-Type", "application/x-sentry-envelope"},
	}
	logs := request{method: http.MethodPost, path: "/v1/logs", key: desk.Data.Key, body: `{"resourceLogs":[]}`}
	senders := map[string]request{"native": native, "sentry": envelope, "otlp": logs}
	send := func(wanted func(status int) bool, when string) {
		t.Helper()
		for name, r := range senders {
			if a := s.do(t, r); !wanted(a.status) {
				t.Errorf("%s, %s: %d %s", name, when, a.status, a.body)
			}
		}
	}
	taken := func(status int) bool { return status < 300 }
	send(taken, "before the archive")

	if got := s.want(t, request{method: http.MethodPatch, path: projectsPath + "/order-desk", body: `{"archived":true}`}, ""); !strings.Contains(got, `"archived":true`) {
		t.Errorf("archived: %s", got)
	}
	send(func(status int) bool { return status == http.StatusForbidden }, "in the archive")
	s.refusedSender(t, native, "project_archived")
	if a := s.do(t, request{method: http.MethodPost, path: eventsPath, key: s.File(t, "keys/ingest.key"), body: `{"message":"of another project"}`}); !taken(a.status) {
		t.Errorf("another project: %d %s", a.status, a.body)
	}
	s.want(t, request{method: http.MethodPatch, path: projectsPath + "/2", body: `{"archived":0,"name":"Desk"}`}, "")
	send(taken, "back from the archive")

	trail := s.get(t, "/api/v1/admin/audit?action=project.*")
	if creates, updates := strings.Count(trail, `"action":"project.create"`), strings.Count(trail, `"action":"project.update"`); creates != 2 || updates != 2 ||
		!strings.Contains(trail, `"scope":"Projects/Manage"`) {
		t.Errorf("%d creates and %d updates in the audit trail: %s", creates, updates, trail)
	}
	before := fmt.Sprintf("%+v", s.projects(t))
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	again := &service{servicetest.Start(t, s.Data), s.now, 0}
	// Its address is another one, and so are its DSNs.
	after := strings.ReplaceAll(fmt.Sprintf("%+v", again.projects(t)), strings.TrimPrefix(again.URL, "http://"), strings.TrimPrefix(s.URL, "http://"))
	if after != before {
		t.Errorf("after a restart:\n got %s\nwant %s", after, before)
	}
}

// refusedSender sends events that must be refused with the code.
func (s *service) refusedSender(t *testing.T, r request, code string) {
	t.Helper()
	a := s.do(t, r)
	if !strings.Contains(a.body, `"code":"`+code+`"`) {
		t.Errorf("%s: %d %s, want %s", r, a.status, a.body, code)
	}
}
