//go:build clients

package emitters

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"testing"
	"time"

	"github.com/errata-log/errata/test/servicetest"
)

// TestBrowser opens a page of one origin that sends its errors to another.
func TestBrowser(t *testing.T) {
	s := start(t)
	signals := make(chan string, 16)
	pages := http.NewServeMux()
	pages.HandleFunc("/page", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "testdata/page.html") })
	pages.HandleFunc("/errata.mjs", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		http.ServeFile(w, r, absolute(t, "deploy/emitters/errata.mjs"))
	})
	for _, path := range []string{"/sent", "/failed", "/next"} {
		pages.HandleFunc(path, func(http.ResponseWriter, *http.Request) { signals <- path })
	}
	site := httptest.NewServer(pages)
	defer site.Close()

	ctx, cancel := context.WithCancel(t.Context())
	browser := exec.CommandContext(ctx, servicetest.Program(t, "chromium", "chromium"), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--user-data-dir="+t.TempDir(), site.URL+"/page?dsn="+url.QueryEscape(s.dsn(t)))
	browser.WaitDelay = 5 * time.Second // its children keep the pipes open
	if err := browser.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cancel()
		_ = browser.Wait() // it was killed
	}()
	for _, want := range []string{"/sent", "/next"} {
		select {
		case got := <-signals:
			same(t, "the page's sign", got, want)
		case <-time.After(never):
			t.Fatalf("the browser did not ask for %s", want)
		}
	}
	got := s.wait(t, "TypeError", 1)
	same(t, "message", got.Message, "caught in a page")
	same(t, "file", got.File, "page")
	same(t, "address", got.URI, "/page?dsn=[Filtered]")
	same(t, "tag", got.Payload.Tags["button"], "buy")
	same(t, "handled", *got.Payload.Handled, true)
	same(t, "cause", got.Payload.Exceptions[0].Class, "RangeError")
	for _, class := range []string{"SyntaxError", "URIError"} {
		got = s.wait(t, class, 1)
		same(t, "handled", *got.Payload.Handled, false)
	}
	s.wait(t, "EvalError", 1) // by the beacon
}
