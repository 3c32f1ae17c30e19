package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/errata-log/errata/app"
)

// auditEntry is what the tests read of an entry.
type auditEntry struct {
	N      int
	Action string
	Route  string
	Scope  string
	Actor  struct {
		KeyID   string `json:"key_id"`
		KeyName string `json:"key_name"`
		IP      string
	}
	After struct{ Name string }
}

func trail(t *testing.T, a *app.App, query string) []auditEntry {
	t.Helper()
	status, body := get(t, a.Welcome().URL+"/api/v1/admin/audit?"+query, key(t, a.Welcome().AdminKeyFile))
	var answer struct {
		Data []auditEntry
		Meta struct{ Behind bool }
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != http.StatusOK || answer.Meta.Behind {
		t.Fatalf("audit: %d %s (%v)", status, body, err)
	}
	return answer.Data
}

// TestAuditOfAService: a change by an administrator is in the audit trail at the next
// request, and after a restart.
func TestAuditOfAService(t *testing.T) {
	o := testOptions(t)
	a := build(t, o)
	stop := run(t, a)
	admin := key(t, a.Welcome().AdminKeyFile)
	first := trail(t, a, "")
	made := map[string]int{}
	for _, e := range first {
		made[e.Action+" by "+e.Actor.KeyID]++
	}
	if len(first) != 3 || made["key.create by service"] != 2 || made["project.create by service"] != 1 {
		t.Fatalf("after the first start: %+v, want two keys and a project made by the service", first)
	}
	for i := range 3 {
		body := fmt.Sprintf(`{"name":"key %d","kind":"ops"}`, i)
		if status, answer := request(t, http.MethodPost, a.Welcome().URL+"/api/v1/admin/keys", admin, body); status != http.StatusCreated {
			t.Fatalf("create: %d %s", status, answer)
		}
		e := trail(t, a, "limit=1")[0]
		if e.N != 4+i || e.Action != "key.create" || e.After.Name != fmt.Sprint("key ", i) || e.Actor.IP != "127.0.0.1" ||
			e.Route != "POST /api/v1/admin/keys" || e.Scope != "Keys/Manage" || !strings.HasPrefix(admin, "eik_adm_"+e.Actor.KeyID) {
			t.Errorf("entry %+v", e)
		}
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	again := build(t, o)
	run(t, again)
	if got := trail(t, again, "action=key.*"); len(got) != 5 {
		t.Errorf("after a restart: %+v, want the same five entries", got)
	}
	status, body := get(t, again.Welcome().URL+"/api/v1/admin/audit/verify", admin)
	if status != http.StatusOK || !strings.Contains(body, `"ok":true,"entries":6,`) {
		t.Errorf("verify: %d %s", status, body)
	}
	if said := opsStatus(t, again); !strings.Contains(said, `{"name":"audit","ok":true,"detail":"changes have entries up to 1 of 1 on the log and `) {
		t.Errorf("status: %s", said)
	}
}
