//go:build clients

package clients

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/errata-log/errata/test/servicetest"
)

// TestAgentPython is an agent of another language, with a key that may not change
// anything.
func TestAgentPython(t *testing.T) {
	python := pythonWith(t, "mcp==2.3.0")
	s := servicetest.Start(t, t.TempDir())
	post := func(path, key, body string) string {
		req, err := servicetest.NewRequest("POST", s.URL+path, strings.NewReader(body), "Authorization", "Bearer "+key, "Content-Type", "application/json")
		if err != nil {
			t.Fatal(err)
		}
		resp, text, err := servicetest.Send(s.HTTP, req)
		if err != nil || resp.StatusCode >= 300 {
			t.Fatalf("%s: %v %s", path, err, text)
		}
		return text
	}
	var made struct{ Data struct{ Key string } }
	if err := json.Unmarshal([]byte(post("/api/v1/admin/keys", s.Admin, `{"name":"agent","kind":"adm","scopes":["Tools/GetErrorLogs","Tools/GetErrorLog"]}`)), &made); err != nil {
		t.Fatal(err)
	}
	post("/api/v1/events", s.Ingest, `{"message":"an agent reads this"}`)
	// It answers when everything before it is visible.
	post("/api/v1/admin/tools/logs/errors/status", s.Admin, `{"signatures":["`+strings.Repeat("0", 32)+`"],"status":"open"}`)
	var rows []struct{ Signature string }
	s.GetData(t, "/api/v1/admin/tools/logs/errors", &rows)
	if len(rows) != 1 {
		t.Fatalf("%d records", len(rows))
	}
	r := servicetest.Run(t, []string{"URL=" + s.URL, "KEY=" + made.Data.Key}, python, "testdata/agent.py")
	for _, mode := range []string{"auto", "legacy"} {
		want := fmt.Sprintf(`{"code": "insufficient_scope", "context": "an agent reads this", "link": "%s/?record=%s", "message": "an agent reads this", "mode": "%s", "refused": true, "tools": 8}`,
			s.URL, rows[0].Signature, mode)
		if r.Code != 0 || !strings.Contains(r.Output, want) {
			t.Errorf("%d %s\nwant %s", r.Code, r.Output, want)
		}
	}
}
