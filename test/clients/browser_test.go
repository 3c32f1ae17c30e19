//go:build clients

package clients

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/errata-log/errata/test/servicetest"
)

// seen is a line of the browser script's output.
type seen struct {
	Console, Failed, Why string
	Status               int
	Method               string
	Sent, Got            map[string]string
	Preflight            int
	Text                 string
}

// TestSentryBrowser is a page of one origin that sends its errors to another.
func TestSentryBrowser(t *testing.T) {
	s := start(t)
	s.own = "shop.js"
	packages(t)
	sdk := servicetest.Run(t, nil, filepath.FromSlash("node_modules/esbuild/bin/esbuild"), "node_modules/@sentry/browser/build/npm/esm/prod/index.js",
		"--bundle", "--format=iife", "--global-name=Sentry", "--log-level=error",
		"--minify-whitespace") // not the names: the SDK filters its own frames by them
	if sdk.Code != 0 {
		t.Fatal(sdk.Output)
	}
	pages := http.NewServeMux()
	pages.HandleFunc("/sdk.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		_, _ = w.Write([]byte(sdk.Output))
	})
	pages.HandleFunc("/cart", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "testdata/page.html") })
	pages.HandleFunc("/shop.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "testdata/shop.js") })
	site := httptest.NewServer(pages)
	defer site.Close()
	page := site.URL + "/cart?page=2&token=s3cret&dsn=" + url.QueryEscape(s.DSN(t, s.URL))
	driven := node(t, nil, "testdata/browse.mjs", servicetest.Program(t, "chromium", "chromium"), page, s.URL, "buy", "say", "buy", "say", "boom", "reject")
	if driven.Code != 0 {
		t.Fatal(driven.Output)
	}
	checkCORS(t, site.URL, driven.Output)
	in := func(f fields, mark, function string) fields {
		f.URI, f.UserID, f.IP = "/cart?page=2&token=[Filtered]&dsn=[Filtered]", 1204, "127.0.0.1" // the browser's
		return f.thrown("shop.js", servicetest.Place(t, "shop.js", mark), function).shop("sentry")
	}
	s.check(t,
		in(fields{
			Type: "database", Level: "error", Class: "OrderError", Message: "order 42 failed", Count: 2, Handled: "yes",
			Chain: []string{"TypeError: Cannot read properties of undefined (reading 'sku')", "OrderError: order 42 failed"},
		}, "nested", "load"),
		in(fields{Level: "info", Message: "queue is full", Count: 2, Handled: "yes", Chain: []string{": queue is full"}}, "message", "HTMLButtonElement.<anonymous>"),
		in(fields{
			Level: "error", Class: "TypeError", Message: "Cannot read properties of undefined (reading 'count')", Handled: "no",
			Chain: []string{"TypeError: Cannot read properties of undefined (reading 'count')"},
		}, "unhandled", "boom"),
		in(fields{Level: "error", Class: "RangeError", Message: "nobody waits", Handled: "no", Chain: []string{"RangeError: nobody waits"}},
			"rejected", "HTMLButtonElement.<anonymous>"),
	)
}

// checkCORS checks that the browser let the page send everything and read the
// answers.
func checkCORS(t *testing.T, origin, output string) {
	t.Helper()
	answers, preflight := 0, 0
	for line := range strings.Lines(output) {
		var l seen
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Errorf("the browser's driver says %s", line)
			continue
		}
		switch {
		case l.Failed != "":
			t.Errorf("a request failed: %s: %s", l.Failed, l.Why)
		case strings.Contains(l.Console, "CORS"):
			t.Error(l.Console)
		case l.Preflight != 0:
			preflight = l.Preflight
		case l.Status != 0:
			answers++
			if l.Status != http.StatusOK || l.Got["access-control-allow-origin"] == "" || l.Sent["origin"] != origin && l.Method != http.MethodOptions {
				t.Errorf("%+v", l)
			}
		}
	}
	if answers < 6 || preflight != http.StatusOK {
		t.Errorf("%d answers, %d after a preflight", answers, preflight)
	}
}
