package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/audit"
)

// auditTrail answers with its fields.
type auditTrail struct {
	asked  []audit.Query
	page   audit.Page
	report audit.Report
	err    error
}

func (a *auditTrail) List(_ context.Context, q audit.Query) (audit.Page, error) {
	a.asked = append(a.asked, q)
	page := a.page
	page.Entries, page.Limit = append([]audit.Entry{}, page.Entries...), q.Limit
	return page, a.err
}

func (a *auditTrail) Verify(context.Context) (audit.Report, error) { return a.report, a.err }

const auditPath = "/api/v1/admin/audit"

func TestAuditList(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.AuditRead)
	at := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		query string
		want  audit.Query
	}{
		{"", audit.Query{Limit: 25}},
		{"?limit=&cursor=&actor=&action=", audit.Query{Limit: 25}},
		{"?limit=1&cursor=9223372036854775807", audit.Query{Limit: 1, Before: 1<<63 - 1}},
		{"?limit=100&actor=ada&action=errors.*", audit.Query{Limit: 100, Actor: "ada", Action: "errors.*"}},
		{"?from=2026-11-21T00:00:00Z&to=2026-11-21T02:00:00%2B02:00", audit.Query{Limit: 25, From: at, To: at}},
	} {
		b.audit.asked = nil
		if w := b.do(request{method: "GET", target: auditPath + c.query, key: key}); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", c.query, w.Code, w.Body)
		}
		if diff := cmp.Diff([]audit.Query{c.want}, b.audit.asked); diff != "" {
			t.Errorf("%s asked for (-want +got):\n%s", c.query, diff)
		}
	}
	golden(t, "audit_empty", b.do(request{method: "GET", target: auditPath, key: key}))
	b.audit.page = audit.Page{Next: 7, Behind: true, Entries: []audit.Entry{
		entry(8, "key.create", "</script>", `null`), entry(7, "settings.logging", "ada", `{"x":1.50}`),
	}}
	golden(t, "audit", b.do(request{method: "GET", target: auditPath + "?limit=2", key: key}))
}

// entry is a whole entry of the trail.
func entry(n uint64, action, name, before string) audit.Entry {
	hash := strings.Repeat("0f", 32)
	return audit.Entry{
		N: n, Time: start, Actor: audit.Actor{KeyID: "uRP2Z05Y4tWD", KeyName: name, IP: "192.0.2.1"}, Action: action,
		Route: "POST /x", Scope: "Keys/Manage", RequestID: "8a", Before: json.RawMessage(before), Result: json.RawMessage(`{"stored":true}`),
		Source: audit.Source{Stream: "LOG", Sequence: n}, Cursors: audit.Cursors{Log: 1, Keys: 2}, Prev: hash, Hash: hash,
	}
}

func TestAuditListRefuses(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.AuditRead)
	for query, want := range map[string]string{
		"limit=0": "invalid_limit", "limit=101": "invalid_limit", "limit=-1": "invalid_limit", "limit=ten": "invalid_limit",
		"limit=1.5": "invalid_limit", "limit=99999999999999999999": "invalid_limit",
		"cursor=0": "invalid_cursor", "cursor=-1": "invalid_cursor", "cursor=x": "invalid_cursor",
		"cursor=18446744073709551616": "invalid_cursor", "from=yesterday": "invalid_date", "to=2026-11-21": "invalid_date",
	} {
		w := b.do(request{method: "GET", target: auditPath + "?" + query, key: key})
		if w.Code != http.StatusUnprocessableEntity || code(t, w) != want {
			t.Errorf("%s: got %d %s, want 422 %s", query, w.Code, w.Body, want)
		}
	}
	if len(b.audit.asked) != 0 {
		t.Errorf("asked the trail for %+v", b.audit.asked)
	}
}

func TestAuditVerify(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.AuditRead)
	b.audit.report = audit.Report{Entries: 12, Head: "ab12"}
	golden(t, "audit_verify", b.do(request{method: "GET", target: auditPath + "/verify", key: key}))
	b.audit.report = audit.Report{Entries: 4, Head: "cd34", Problem: &audit.Problem{N: 5, Reason: "it was changed: its hash is another one"}}
	golden(t, "audit_verify_broken", b.do(request{method: "GET", target: auditPath + "/verify", key: key}))
}

// TestAuditAway: a trail that does not answer, and a service without a trail.
func TestAuditAway(t *testing.T) {
	without := newBench(t, func(c *api.Config) { c.Audit = nil })
	away := newBench(t, nil)
	away.audit.err = errata.Errorf(errata.KindLogUnavailable, "The audit trail does not answer; try again shortly.")
	for _, path := range []string{auditPath, auditPath + "/verify"} {
		w := without.do(request{method: "GET", target: path, key: without.key(t, access.AuditRead)})
		if w.Code != http.StatusNotFound || code(t, w) != "not_found" {
			t.Errorf("%s without a trail: %d %s", path, w.Code, w.Body)
		}
		w = away.do(request{method: "GET", target: path, key: away.key(t, access.AuditRead)})
		if w.Code != http.StatusServiceUnavailable || code(t, w) != "log_unavailable" {
			t.Errorf("%s while it is away: %d %s", path, w.Code, w.Body)
		}
	}
}
