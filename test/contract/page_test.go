package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// What the page for people asks for in addition to the contract.

// TestManyTrends: the trends of many records are those of each alone, and zeros
// where no record exists.
func TestManyTrends(t *testing.T) {
	t.Parallel()
	s := start(t)
	one, two := trial("system", "one"), trial("database", "two")
	for i := range 7 {
		s.send(t, one.at(s.now.Add(-time.Duration(i)*time.Hour)), two.at(s.now.Add(-time.Duration(i)*26*time.Hour)))
	}
	s.settle(t)
	for over, steps := range map[string]int{"24h": 24, "14d": 14} {
		var many struct {
			Range, Step, From, To string
			Trends                []struct {
				Signature, Type string
				Total           int
				Counts          []int
			}
		}
		text := s.get(t, fmt.Sprintf("%s/trends?range=%s&signatures=%s,database:%s,database:%s", errorsPath, over, one.signature(), two.signature(), one.signature()))
		if err := json.Unmarshal([]byte(text), &many); err != nil {
			t.Fatal(err)
		}
		if len(many.Trends) != 3 || many.Range != over || many.Trends[2].Total != 0 || len(many.Trends[2].Counts) != steps {
			t.Fatalf("%s: %s", over, text)
		}
		for i, e := range []event{one, two} {
			var alone struct {
				From, To, Step string
				Total          int
				Buckets        []struct{ Count int }
			}
			if err := json.Unmarshal([]byte(s.get(t, errorsPath+"/"+e.signature().String()+"/trend?type="+e.Book+"&range="+over)), &alone); err != nil {
				t.Fatal(err)
			}
			var counts []int
			for _, b := range alone.Buckets {
				counts = append(counts, b.Count)
			}
			got := many.Trends[i]
			if got.Total != alone.Total || fmt.Sprint(got.Counts) != fmt.Sprint(counts) || got.Type != e.Book || many.From != alone.From || many.To != alone.To || many.Step != alone.Step {
				t.Errorf("%s, %s: %+v, alone %+v", over, e.Book, got, alone)
			}
		}
	}
	s.refused(t, request{method: http.MethodGet, path: errorsPath + "/trends"}, http.StatusUnprocessableEntity, "signature_required", "signatures")
	s.refused(t, request{method: http.MethodGet, path: errorsPath + "/trends?range=soon&signatures=" + one.signature().String()}, http.StatusUnprocessableEntity, "invalid_range", "soon")
}

// TestOverview: events are counted by level, and their records are named as long
// as they exist.
func TestOverview(t *testing.T) {
	t.Parallel()
	s := start(t)
	steady, growing, deleted := trial("system", "steady"), trial("database", "growing"), trial("system", "deleted")
	for i := range 4 {
		s.send(t, steady.at(s.now.Add(-time.Duration(18+i%2)*time.Hour)), steady.at(s.now), deleted.at(s.now), deleted.at(s.now), deleted.at(s.now))
	}
	s.send(t, growing.at(s.now.Add(-20*time.Hour)), growing.at(s.now), growing.at(s.now), growing.at(s.now))
	s.settle(t)
	s.want(t, request{method: http.MethodDelete, path: errorsPath, body: signaturesBody(deleted.signature().String())}, "")
	var o struct {
		Range, Step string
		Series      []struct {
			Type, Level string
			Counts      []int
		}
		Growing []struct {
			Record      json.RawMessage
			Before, Now int
		}
		Noisy []struct {
			Record json.RawMessage
			Count  int
		}
	}
	text := s.get(t, "/api/v1/admin/tools/logs/overview")
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	sums := map[string]int{}
	for _, line := range o.Series {
		for _, n := range line.Counts {
			sums[line.Type+" "+line.Level] += n
		}
	}
	if o.Range != "24h" || o.Step != "hour" || fmt.Sprint(sums) != "map[database error:4 system error:20]" {
		t.Errorf("series %v: %s", sums, text)
	}
	row := func(e event) string {
		list := s.get(t, errorsPath+"?signature="+e.signature().String())
		return strings.TrimSuffix(strings.TrimPrefix(list, "["), "]")
	}
	if len(o.Growing) != 1 || string(o.Growing[0].Record) != row(growing) || o.Growing[0].Before != 1 || o.Growing[0].Now != 3 {
		t.Errorf("growing: %s", text)
	}
	if len(o.Noisy) != 2 || string(o.Noisy[0].Record) != row(steady) || o.Noisy[0].Count != 8 || string(o.Noisy[1].Record) != row(growing) || o.Noisy[1].Count != 4 {
		t.Errorf("noisy: %s", text)
	}
}

// TestPreviewOfACleanup: it returns what the cleanup then deletes, and deletes
// nothing.
func TestPreviewOfACleanup(t *testing.T) {
	t.Parallel()
	s := start(t)
	day := 24 * time.Hour
	s.send(t, trial("system", "old").at(s.now.Add(-9*day)), trial("system", "older").at(s.now.Add(-10*day)), trial("database", "old").at(s.now.Add(-8*day)),
		trial("system", "fresh").at(s.now), trial("database", "fresh").at(s.now))
	s.settle(t)
	before := s.now.Add(-7 * day).Format(time.DateOnly)
	preview := request{method: http.MethodPost, path: cleanupPath + "/preview", body: body("before", before)}
	for range 2 { // the first one changes nothing
		s.want(t, preview, fmt.Sprintf(`{"before":%q,"count":3,"books":{"system":2,"database":1}}`, before))
	}
	s.want(t, request{method: http.MethodPost, path: cleanupPath, body: body("before", before)}, fmt.Sprintf(`{"before":%q,"cleared":true,"deleted":{"system":2,"database":1}}`, before))
	s.want(t, preview, fmt.Sprintf(`{"before":%q,"count":0,"books":{"system":0,"database":0}}`, before))
	preview.key = s.narrowKey(t, "Tools/GetErrorLogs")
	s.refused(t, preview, http.StatusForbidden, "insufficient_scope", "Tools/ClearErrorLogs")
}

// TestPreviewIsBehindTheFold: a preview counts every event that was accepted before
// it, also those that are not folded yet.
func TestPreviewIsBehindTheFold(t *testing.T) {
	t.Parallel()
	s := start(t)
	preview := request{method: http.MethodPost, path: cleanupPath + "/preview", body: body("before", "2999-01-01")}
	for n := 1; n <= 20; n++ {
		s.send(t, trial("system", fmt.Sprint("not folded ", n)).at(s.now), trial("database", "the same"))
		s.want(t, preview, fmt.Sprintf(`{"before":"2999-01-01","count":%d,"books":{"system":%d,"database":1}}`, n+1, n))
	}
}

// TestForThePage: the caller's key, the service's status, a key with its DSN, and
// the page itself.
func TestForThePage(t *testing.T) {
	t.Parallel()
	s := start(t)
	narrow := s.narrowKey(t, "Audit/Read")
	who := s.want(t, request{method: http.MethodGet, path: "/api/v1/admin/whoami", key: narrow}, "")
	if !strings.Contains(who, `"kind":"adm"`) || !strings.Contains(who, `"scopes":["Audit/Read"]`) || !strings.Contains(who, `"address":"127.0.0.1"`) {
		t.Errorf("whoami: %s", who)
	}
	s.refused(t, request{method: http.MethodGet, path: "/api/v1/admin/whoami", key: s.Ingest}, http.StatusForbidden, "insufficient_scope", "adm")

	s.send(t, trial("system", "counted"))
	s.settle(t)
	var status struct {
		Figures map[string]*float64
	}
	text := s.get(t, "/api/v1/admin/ops/status")
	if err := json.Unmarshal([]byte(text), &status); err != nil {
		t.Fatal(err)
	}
	for name, atLeast := range map[string]float64{
		"events_per_second": 0, "lag_facts": 0, "lag_ms": 0, "log_bytes": 1, "log_max_bytes": 1, "disk_free_bytes": 1, "disk_total_bytes": 1,
		"clickhouse_bytes": 1, "lost_at_senders": 0, "dropped_by_switch": 0, "refused_by_limit": 0, "dropped_by_noise": 0,
	} {
		if got := status.Figures[name]; got == nil || *got < atLeast {
			t.Errorf("the figure %s: %s", name, text)
		}
	}

	made := s.do(t, request{method: http.MethodPost, path: keysPath, body: body("name", "shop", "kind", "ing")})
	if dsn := "@" + strings.TrimPrefix(s.URL, "http://") + "/"; made.status != http.StatusCreated || !strings.Contains(made.body, `"dsn":"http://`) || !strings.Contains(made.body, dsn) {
		t.Errorf("an ingest key: %d %s, want a DSN with %s", made.status, made.body, dsn)
	}

	page := s.do(t, request{method: http.MethodGet, path: "/", key: "-", header: []string{"Accept", "text/html,*/*;q=0.8"}})
	policy := page.header.Get("Content-Security-Policy")
	if page.status != http.StatusOK || !strings.Contains(page.body, "<title>Errata</title>") || !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; ") {
		t.Errorf("the page: %d %s, policy %q", page.status, page.body, policy)
	}
	report := s.do(t, request{method: http.MethodPost, path: "/api/v1/csp-reports", key: "-", body: `{"csp-report":{}}`, header: []string{"Content-Type", "application/csp-report"}})
	metrics := s.do(t, request{method: http.MethodGet, path: "/metrics", key: "-"})
	if report.status != http.StatusNoContent || !strings.Contains(metrics.body, "errata_csp_reports_total 1\n") {
		t.Errorf("a report: %d %s", report.status, report.body)
	}
}
