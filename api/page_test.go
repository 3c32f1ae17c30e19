package api_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/api"
)

// page is one with a script.
type page struct{}

func (page) Index() http.Handler { return content("text/html; charset=utf-8", "<!doctype html>") }

func (page) Asset(name string) http.Handler {
	if name != "/app.js" {
		return nil
	}
	return content("text/javascript", "run()")
}

func content(kind, text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("ETag", `"1"`)
		_, _ = io.WriteString(w, text)
	})
}

func TestWhoGetsThePage(t *testing.T) {
	b := newBench(t, func(c *api.Config) { c.Web = page{} })
	for accept, html := range map[string]bool{
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": true,
		"TEXT/HTML": true,
		"":          false, "*/*": false, "application/json": false, "application/json, text/html;q=0.5": false,
	} {
		w := b.do(request{method: "GET", target: "/", headers: []string{"Accept: " + accept}})
		if got := strings.HasPrefix(w.Header().Get("Content-Type"), "text/html"); got != html || w.Code != http.StatusOK || w.Header().Get("Vary") != "Accept" {
			t.Errorf("Accept %q: page %v, want %v; %d, Vary %q", accept, got, html, w.Code, w.Header().Get("Vary"))
		}
	}
	golden(t, "index", b.do(request{method: "GET", target: "/"}))
	golden(t, "index", newBench(t, nil).do(request{method: "GET", target: "/", headers: []string{"Accept: text/html"}}))
}

func TestAssets(t *testing.T) {
	b := newBench(t, func(c *api.Config) { c.Web = page{} })
	if w := b.do(request{method: "GET", target: "/assets/app.js"}); w.Code != http.StatusOK || w.Body.String() != "run()" {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	for _, path := range []string{"/assets/", "/assets/other.js", "/assets/../secret"} {
		if w := b.do(request{method: "GET", target: path}); w.Code != http.StatusNotFound || code(t, w) != "not_found" {
			t.Errorf("%s: got %d %s", path, w.Code, w.Body)
		}
	}
}

// counter is a function that counts.
type counter func(n float64)

func (c counter) Add(n float64) { c(n) }

func TestPolicyReports(t *testing.T) {
	counted := 0
	b := newBench(t, func(c *api.Config) { c.PolicyReports = counter(func(n float64) { counted += int(n) }) })
	for _, c := range []struct {
		kind, body string
		status     int
		counted    int
	}{
		{"application/csp-report", `{"csp-report":{"violated-directive":"script-src"}}`, 204, 1},
		{"application/reports+json", `[{"type":"csp-violation"},{"type":"csp-violation"}]`, 204, 2},
		{"application/json", `{"csp-report":{}}`, 204, 1},
		{"application/csp-report", `{"csp-report":`, 400, 0},
		{"application/csp-report", `{}`, 400, 0},
		{"application/csp-report", `[]`, 400, 0},
		{"text/plain", `{"csp-report":{}}`, 415, 0},
		{"application/csp-report", `{"csp-report":{"a":"` + strings.Repeat("x", 16<<10) + `"}}`, 413, 0},
	} {
		counted = 0
		w := b.do(request{method: "POST", target: "/api/v1/csp-reports", body: c.body, headers: []string{"Content-Type: " + c.kind}})
		if w.Code != c.status || counted != c.counted {
			t.Errorf("%s %.40s: got %d and counted %d, want %d and %d", c.kind, c.body, w.Code, counted, c.status, c.counted)
		}
	}
	counted = 0
	last := 0
	for i := range 100 {
		from := fmt.Sprintf("203.0.113.9:%d", 1000+i)
		last = b.do(request{method: "POST", target: "/api/v1/csp-reports", body: `{"csp-report":{}}`, from: from}).Code
	}
	if counted != 30 || last != http.StatusTooManyRequests {
		t.Errorf("one address counted %d times in a minute and got %d at last", counted, last)
	}
	b.clock.Move(time.Minute)
	if w := b.do(request{method: "POST", target: "/api/v1/csp-reports", body: `{"csp-report":{}}`, from: "203.0.113.9:1"}); w.Code != http.StatusNoContent {
		t.Errorf("a minute later: %d", w.Code)
	}
}
