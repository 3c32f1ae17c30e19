package api_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/errata-log/errata/api/openapi"
)

func TestDocumentIsServed(t *testing.T) {
	b := newBench(t, nil)
	w := b.do(request{method: "GET", target: "/api/v1/openapi.json"})
	want, err := openapi.Document()
	if err != nil {
		t.Fatal(err)
	}
	if w.Code != 200 || !bytes.Equal(w.Body.Bytes(), want) || !json.Valid(want) {
		t.Errorf("got %d with %d bytes, want %d", w.Code, w.Body.Len(), len(want))
	}
	etag := w.Header().Get("ETag")
	for sent, status := range map[string]int{
		etag: 304, "W/" + etag: 304, `"other", ` + etag: 304, `"other"`: 200, "": 200,
	} {
		w := b.do(request{method: "GET", target: "/api/v1/openapi.json", headers: []string{"If-None-Match: " + sent}})
		if w.Code != status || (status == 304) != (w.Body.Len() == 0) || w.Header().Get("ETag") != etag {
			t.Errorf("If-None-Match %s: got %d with %d bytes, want %d", sent, w.Code, w.Body.Len(), status)
		}
	}
}

// TestExplorerStaysAtHome fetches the page and all that it loads: everything
// exists, nothing is inline, and nothing comes from another host.
func TestExplorerStaysAtHome(t *testing.T) {
	b := newBench(t, nil)
	page := b.do(request{method: "GET", target: "/api/v1/docs"})
	loads := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(page.Body.String(), -1)
	if len(loads) != 2 {
		t.Fatalf("the page loads %v, want a script and a style", loads)
	}
	texts := map[string]string{"/api/v1/docs": page.Body.String()}
	for _, load := range loads {
		target := "/api/v1/" + load[1] // as a browser resolves it
		texts[target] = b.do(request{method: "GET", target: target}).Body.String()
	}
	elsewhere := regexp.MustCompile(`(?i)(https?:)?//[a-z0-9.-]+\.[a-z]{2,}|url\(|@import|\bimport\b`)
	for target, text := range texts {
		w := b.do(request{method: "GET", target: target})
		policy := w.Header().Get("Content-Security-Policy")
		for _, directive := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
			if !strings.Contains(policy, directive) {
				t.Errorf("%s: the policy %q lacks %s", target, policy, directive)
			}
		}
		if strings.Contains(policy, "unsafe") || w.Code != 200 || text == "" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d, %d bytes, policy %q", target, w.Code, len(text), policy)
		}
		if found := elsewhere.FindString(text); found != "" {
			t.Errorf("%s reaches out: %s", target, found)
		}
	}
	inline := regexp.MustCompile(`(?i)<script>|<style|\sstyle=|\son[a-z]+=|javascript:`)
	if found := inline.FindString(page.Body.String()); found != "" {
		t.Errorf("the page has a script or a style inline: %s", found)
	}
	script := texts["/api/v1/docs/explorer.js"]
	for _, dangerous := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "localStorage", "document.cookie", "setAttribute('style'"} {
		if strings.Contains(script, dangerous) {
			t.Errorf("the script uses %s: what it shows comes from strangers", dangerous)
		}
	}
	if lines := strings.Count(script, "\n"); lines > 500 {
		t.Errorf("the script has %d lines, more than can be reviewed at once", lines)
	}
}
