//go:build clients

package clients

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/errata-log/errata/test/servicetest"
)

func TestKindsOfSentryNode(t *testing.T) {
	s := start(t)
	env := []string{"DSN=" + s.DSN(t, s.URL)}
	for how, code := range map[string]int{"ask": 0, "reject": 1, "throw": 1} {
		if r := node(t, env, "--import", "./testdata/node-init.mjs", "./testdata/kinds/node.mjs", how); how != "reject" && r.Code != code {
			t.Fatalf("%s: %d %s", how, r.Code, r.Output)
		}
	}
	s.checkKinds(t, failing{
		file: "kinds/node.mjs", release: "shop@1.4.2", handled: "yes",
		uri: func(kind string) string { return "/" + kind + "?page=2&token=[Filtered]" },
		kinds: []kind{
			{name: "nested", class: "OrderError", message: "order 42 failed", chain: 2},
			{name: "group", class: "AggregateError", message: "two steps failed", chain: 3},
			{name: "coroutine", class: "RangeError", message: "no stock in any hall"},
			{name: "generator", class: "TypeError", message: "Cannot read properties of undefined (reading 'amount')"},
			{name: "database", class: "QueryFailedError", message: `relation "orders" does not exist`, book: "database", chain: 2},
			{name: "refused", class: "TypeError", message: "fetch failed", chain: 2},
			{name: "timeout", class: "TimeoutError", message: "The operation was aborted due to timeout"},
			{name: "recursion", class: "RangeError", message: "Maximum call stack size exceeded"},
			{name: "unicode", class: "Error", message: "Größe ungültig: 尺寸 🙈 👩‍👩‍👧"},
			{name: "rtl", class: "Error", message: "ההזמנה לא נשמרה"},
			{name: "huge", class: "Error", message: "line of a report"},
			{name: "secret", class: "Error", message: "login failed: password=[Filtered] card=[Filtered]"},
			{name: "custom", class: "OrderError", message: "order 9: already paid"},
			{name: "missing", class: "Error", message: "Cannot find package 'shop-that-is-not-installed'", at: "-"},
			{name: "parse", class: "SyntaxError", message: "Unexpected token '}'"},
			{name: "file", class: "Error", message: "ENOENT: no such file or directory, open"},
			{name: "attribute", class: "TypeError", message: "Cannot read properties of null (reading 'price')"},
			{name: "called", class: "TypeError", message: "basket.total is not a function"},
			{name: "reference", class: "ReferenceError", message: "notDefinedAnywhere is not defined"},
			{name: "bigint", class: "RangeError", message: "Division by zero"},
			{name: "url", class: "TypeError", message: "Invalid URL"},
			{name: "silent", class: "Error"},
			{name: "string", message: "out of order", at: "captured"},
			{name: "object", message: "Object captured as exception with keys: code, hall", at: "captured"},
			{name: "warning", message: "the queue is nearly full", level: "warning"},
			{name: "scoped", class: "OrderError", message: "order 77: the bank said no", user: "u-77"},
			{name: "reject", class: "RangeError", message: "nobody waits", handled: "no", bare: true},
			{name: "throw", class: "OrderError", message: "the worker died", level: "fatal", handled: "no", bare: true},
		},
	})
	s.checkScoped(t)
}

// browserRecords are the records of the page.
var browserRecords = []kind{
	{name: "nested", class: "OrderError", message: "order 42 failed", chain: 2},
	{name: "group", class: "AggregateError", message: "two steps failed", chain: 3},
	{name: "coroutine", class: "RangeError", message: "no stock in any hall"},
	{name: "generator", class: "TypeError", message: "Cannot read properties of undefined (reading 'amount')"},
	{name: "database", class: "NotFoundError", message: "Failed to execute 'transaction' on 'IDBDatabase'"},
	{name: "refused", class: "TypeError", message: "Failed to fetch", at: "-"}, // the newest frame is the SDK's own
	{name: "timeout", class: "TimeoutError", message: "signal timed out", at: "captured"},
	{name: "recursion", class: "RangeError", message: "Maximum call stack size exceeded"},
	{name: "unicode", class: "Error", message: "Größe ungültig: 尺寸 🙈 👩‍👩‍👧"},
	{name: "rtl", class: "Error", message: "ההזמנה לא נשמרה"},
	{name: "huge", class: "Error", message: "line of a report"},
	{name: "secret", class: "Error", message: "login failed: password=[Filtered] card=[Filtered]"},
	{name: "custom", class: "OrderError", message: "order 9: already paid"},
	{name: "parse", class: "SyntaxError", message: "Unexpected token '}'"},
	{name: "attribute", class: "TypeError", message: "Cannot read properties of null (reading 'price')"},
	{name: "called", class: "TypeError", message: "basket.total is not a function"},
	{name: "reference", class: "ReferenceError", message: "notDefinedAnywhere is not defined"},
	{name: "dom", class: "SyntaxError", message: "Failed to execute 'querySelector' on 'Document'"},
	{name: "url", class: "TypeError", message: "Failed to construct 'URL': Invalid URL"},
	{name: "string", message: "out of order", at: "captured"},
	{name: "object", message: "Object captured as exception with keys: code, hall", at: "captured"},
	{name: "warning", message: "the queue is nearly full", level: "warning"},
	{name: "scoped", class: "OrderError", message: "order 77: the bank said no", user: "u-77"},
	{name: "minifiedPrice", class: "TypeError", message: "Cannot read properties of undefined (reading 'toFixed')", at: "-"},
	{name: "minifiedTotal", class: "TypeError", message: "Cannot read properties of undefined (reading 'map')", at: "-"},
	{name: "minifiedStock", class: "TypeError", message: "i.stock is not a function", at: "-"},
	{name: "reject", class: "RangeError", message: "nobody waits", handled: "no"},
	{name: "boom", class: "TypeError", message: "Cannot read properties of undefined (reading 'total')", handled: "no"},
}

// TestKindsOfSentryBrowser: a page fails in each way, once in a script as it was written,
// and in some ways in a script that was minified into one line.
func TestKindsOfSentryBrowser(t *testing.T) {
	s := start(t)
	packages(t)
	esbuild := filepath.FromSlash("node_modules/esbuild/bin/esbuild")
	sdk := servicetest.Run(t, nil, esbuild, "node_modules/@sentry/browser/build/npm/esm/prod/index.js",
		"--bundle", "--format=iife", "--global-name=Sentry", "--log-level=error",
		"--minify-whitespace") // not the names: the SDK filters its own frames by them
	minified := servicetest.Run(t, nil, esbuild, "testdata/kinds/minified.js", "--minify", "--log-level=error")
	if sdk.Code != 0 || minified.Code != 0 {
		t.Fatal(sdk.Output, minified.Output)
	}
	pages := http.NewServeMux()
	script := func(path, text string) {
		pages.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
			_, _ = w.Write([]byte(text))
		})
	}
	script("/sdk.js", sdk.Output)
	script("/assets/app.min.js", minified.Output)
	pages.HandleFunc("/cart", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "testdata/kinds/page.html") })
	pages.HandleFunc("/page.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "testdata/kinds/page.js") })
	pages.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	site := httptest.NewServer(pages)
	defer site.Close()
	page := site.URL + "/cart?page=2&token=planted-s3cret&dsn=" + url.QueryEscape(s.DSN(t, s.URL))
	if driven := node(t, nil, "testdata/kinds/browse.mjs", servicetest.Program(t, "chromium", "chromium"), page); driven.Code != 0 {
		t.Fatal(driven.Output)
	}
	s.checkKinds(t, failing{
		file: "kinds/page.js", place: "page.js", release: "shop@1.4.2", handled: "yes", noSource: true,
		uri:   func(string) string { return "/cart?page=2&token=[Filtered]&dsn=[Filtered]" },
		kinds: browserRecords,
	})
	s.checkScoped(t)
}
