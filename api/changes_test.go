package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
)

const (
	errorsPath = "/api/v1/admin/tools/logs/errors"
	someHex    = "0123456789abcdef0123456789abcdef"
	otherHex   = "ffffffffffffffffffffffffffffffff"
)

// changes notes its calls, and answers with its fields.
type changes struct {
	mu         sync.Mutex
	signatures []errata.Signature
	before     time.Time
	status     errata.Status
	filter     string
	calls      int
	projects   []uint64
	actor      errata.Actor // of the last Move
	answer     errata.Changed
	err        error
	written    uint64                      // where on the log a change comes
	settle     func(context.Context) error // nil: everything is visible
}

func (c *changes) Settle(ctx context.Context) error {
	if c.settle == nil {
		return nil
	}
	return c.settle(ctx)
}

func (c *changes) Delete(ctx context.Context, projects []uint64, signatures []errata.Signature) (errata.Changed, error) {
	return c.note(ctx, projects, signatures, time.Time{}, "")
}

func (c *changes) Cleanup(ctx context.Context, projects []uint64, before time.Time) (errata.Changed, error) {
	return c.note(ctx, projects, nil, before, "")
}

func (c *changes) Move(ctx context.Context, projects []uint64, signatures []errata.Signature, status errata.Status) (errata.Changed, error) {
	c.actor = errata.ActorOf(ctx)
	return c.note(ctx, projects, signatures, time.Time{}, status)
}

func (c *changes) DeleteMatching(ctx context.Context, projects []uint64, filter json.RawMessage) (errata.Changed, error) {
	c.filter = string(filter)
	return c.note(ctx, projects, nil, time.Time{}, "")
}

func (c *changes) MoveMatching(ctx context.Context, projects []uint64, filter json.RawMessage, status errata.Status) (errata.Changed, error) {
	c.filter = string(filter)
	return c.note(ctx, projects, nil, time.Time{}, status)
}

func (c *changes) note(ctx context.Context, projects []uint64, signatures []errata.Signature, before time.Time, status errata.Status) (errata.Changed, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.projects, c.signatures, c.before, c.status = projects, signatures, before, status
	c.calls++
	errata.WrittenOf(ctx).Note(c.written)
	return c.answer, c.err
}

func hexes(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`"%032x"`, i)
	}
	return strings.Join(list, ",")
}

func TestDeleteErrors(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.ToolsDeleteErrorLogs)
	b.changes.answer = errata.Changed{System: 2, Database: 1}
	for _, test := range []struct {
		body   string
		status int
		code   string
		met    int // signatures that reach the log
	}{
		{`{"signatures":["` + someHex + `"]}`, 200, "", 1},
		{`{"signatures":["` + strings.ToUpper(someHex) + `","` + someHex + `","` + otherHex + `"]}`, 200, "", 2},
		{`{"signatures":["short","` + someHex + `",""]}`, 200, "", 1},
		{`{"signatures":[` + hexes(1000) + `]}`, 200, "", 1000},
		{`{"signatures":[` + hexes(1001) + `]}`, 422, "too_many_signatures", 0},
		// Only different signatures count.
		{`{"signatures":["` + someHex + `"` + strings.Repeat(`,"`+someHex+`"`, 1000) + `]}`, 200, "", 1},
		{`{"signatures":[` + hexes(1000) + `,` + hexes(1000) + `,"short"]}`, 200, "", 1000},
		{`{"signatures":[` + hexes(1001) + `,` + hexes(1001) + `]}`, 422, "too_many_signatures", 0},
		{`{"signatures":["short"]}`, 422, "signature_required", 0},
		{`{"signatures":[]}`, 422, "signature_required", 0},
		{`{"signatures":null}`, 422, "signature_required", 0},
		{`{}`, 422, "signature_required", 0},
		{``, 422, "signature_required", 0},
		{`{"signatures":"` + someHex + `"}`, 400, "invalid_body", 0},
		{`{"signatures":[5]}`, 400, "invalid_body", 0},
		{`{"signatures":["` + someHex + `",null]}`, 400, "invalid_body", 0},
		{`[]`, 400, "invalid_body", 0},
		{`{"signatures":`, 400, "invalid_body", 0},
	} {
		b.changes.calls = 0
		w := b.do(request{method: "DELETE", target: errorsPath, key: key, body: test.body})
		if w.Code != test.status || code(t, w) != test.code {
			t.Errorf("%.60s: %d %s, want %d %s", test.body, w.Code, w.Body, test.status, test.code)
		}
		if test.status == 200 && (b.changes.calls != 1 || len(b.changes.signatures) != test.met || !strings.Contains(w.Body.String(), `{"count":3,"deleted":true}`)) {
			t.Errorf("%.60s: %d signatures reached the log, answered %s", test.body, len(b.changes.signatures), w.Body)
		}
		if test.status != 200 && b.changes.calls != 0 {
			t.Errorf("%.60s: refused and carried out", test.body)
		}
	}
}

func TestCleanupErrors(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.ToolsClearErrorLogs)
	b.changes.answer = errata.Changed{System: 7}
	for _, test := range []struct {
		body string
		echo string // "" is refused with invalid_date
		cut  string
	}{
		{`{"before":"2026-11-01"}`, "2026-11-01", "2026-11-01T23:59:59.999Z"},
		{`{"before":" 2026-11-01 "}`, "2026-11-01", "2026-11-01T23:59:59.999Z"},
		{`{"before":"2999-01-01"}`, "2999-01-01", "2999-01-01T23:59:59.999Z"},
		{`{"before":"2026-11-01T10:00:00Z"}`, "2026-11-01T10:00:00.000Z", "2026-11-01T10:00:00Z"},
		{`{"before":"2026-11-01T10:00:00.1239+02:00"}`, "2026-11-01T08:00:00.123Z", "2026-11-01T08:00:00.123Z"},
		{`{"before":"2024-02-29"}`, "2024-02-29", "2024-02-29T23:59:59.999Z"},
		{`{"before":"2026-02-29"}`, "", ""},
		{`{"before":"2026-13-01"}`, "", ""},
		{`{"before":"01.11.2026"}`, "", ""},
		{`{"before":"yesterday"}`, "", ""},
		{`{"before":""}`, "", ""},
		{`{"before":null}`, "", ""},
		{`{}`, "", ""},
		{``, "", ""},
	} {
		b.changes.calls = 0
		w := b.do(request{method: "POST", target: errorsPath + "/cleanup", key: key, body: test.body})
		if test.echo == "" {
			if w.Code != 422 || code(t, w) != "invalid_date" || b.changes.calls != 0 {
				t.Errorf("%s: %d %s", test.body, w.Code, w.Body)
			}
			continue
		}
		want := `{"data":{"before":"` + test.echo + `","cleared":true,"deleted":{"system":7,"database":0}}}`
		cut, err := time.Parse(time.RFC3339, test.cut)
		if err != nil {
			t.Fatal(err)
		}
		if w.Code != 200 || strings.TrimSpace(w.Body.String()) != want || !b.changes.before.Equal(cut) {
			t.Errorf("%s: %d %s, cut at %s, want %s at %s", test.body, w.Code, w.Body, b.changes.before, want, cut)
		}
	}
	if w := b.do(request{method: "POST", target: errorsPath + "/cleanup", key: key, body: `{"before":20261101}`}); code(t, w) != "invalid_body" {
		t.Errorf("a number: %s", w.Body)
	}
}

func TestMoveErrors(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.ToolsUpdateErrorStatus)
	b.changes.answer = errata.Changed{Database: 1}
	for word, want := range map[string]errata.Status{
		"open": errata.StatusOpen, "Resolved": errata.StatusResolved, "MUTED": errata.StatusMuted,
		"unresolved": errata.StatusOpen, "active": errata.StatusOpen, "ignored": errata.StatusMuted,
		"archived": errata.StatusMuted, "snoozed": errata.StatusMuted,
	} {
		w := b.do(request{method: "POST", target: errorsPath + "/status", key: key, body: `{"signatures":["` + someHex + `"],"status":"` + word + `"}`})
		if w.Code != 200 || b.changes.status != want || !strings.Contains(w.Body.String(), `{"count":1,"status":"`+string(want)+`","updated":true}`) {
			t.Errorf("%s: %d %s, moved to %s", word, w.Code, w.Body, b.changes.status)
		}
	}
	for body, want := range map[string]string{
		`{"signatures":["` + someHex + `"],"status":"gone"}`:   "invalid_status",
		`{"signatures":["` + someHex + `"]}`:                   "invalid_status",
		`{"status":"open"}`:                                    "signature_required",
		`{"signatures":[` + hexes(1001) + `],"status":"open"}`: "too_many_signatures",
	} {
		if w := b.do(request{method: "POST", target: errorsPath + "/status", key: key, body: body}); w.Code != 422 || code(t, w) != want {
			t.Errorf("%.60s: %d %s, want %s", body, w.Code, w.Body, want)
		}
	}
}

// TestChangesInAnOutage: an outage is never answered with 500.
func TestChangesInAnOutage(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	for _, kind := range []errata.Kind{errata.KindLogUnavailable, errata.KindLogFull, errata.KindStoreUnavailable} {
		b.changes.err = errata.Errorf(kind, "away")
		w := b.do(request{method: "DELETE", target: errorsPath, key: key, body: `{"signatures":["` + someHex + `"]}`})
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || code(t, w) != string(kind) {
			t.Errorf("%s: %d %s", kind, w.Code, w.Body)
		}
	}
}

func TestTrend(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.ToolsGetErrorLog)
	w := b.do(request{method: "GET", target: errorsPath + "/" + strings.ToUpper(someHex) + "/trend?type=database", key: key})
	want := `{"data":{"signature":"` + someHex + `","type":"database","range":"24h","step":"hour","from":"2026-11-21T03:58:25.123Z","to":"2026-11-21T04:58:25.123Z","total":3,"buckets":[{"time":"2026-11-21T03:58:25.123Z","count":3}]}}`
	if strings.TrimSpace(w.Body.String()) != want {
		t.Errorf("got %s", w.Body)
	}
	golden(t, "trend_releases", b.do(request{method: "GET", target: errorsPath + "/" + someHex + "/trend/releases?type=database", key: key}))
	for target, want := range map[string]string{
		"/short/trend":                                "signature_required",
		"/" + someHex + "/trend?type=cellar":          "invalid_type",
		"/short/trend/releases":                       "signature_required",
		"/" + someHex + "/trend/releases?type=cellar": "invalid_type",
	} {
		if w := b.do(request{method: "GET", target: errorsPath + target, key: key}); w.Code != 422 || code(t, w) != want {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
}
