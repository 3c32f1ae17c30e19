package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

func site(t *testing.T) *Site {
	t.Helper()
	s, err := newSite(fstest.MapFS{
		"dist/index.html":            {Data: []byte("<!doctype html>" + strings.Repeat("<!-- x -->", 300))},
		"dist/assets/app-1a2b.js":    {Data: []byte(strings.Repeat("console.log(1);", 200))},
		"dist/assets/tiny.css":       {Data: []byte("a{}")},
		"dist/assets/icon.svg":       {Data: []byte("<svg/>")},
		"dist/assets/fonts/a.woff2":  {Data: []byte("wOF2")},
		"dist/assets/_odd.xyz":       {Data: []byte("?")},
		"dist/outside.js":            {Data: []byte("secret")},
		"dist/.vite/manifest.json":   {Data: []byte("{}")},
		"dist/assets/.hidden/x.json": {Data: []byte("{}")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ask(h http.Handler, method string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/", http.NoBody)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestContentTypes(t *testing.T) {
	s := site(t)
	for name, want := range map[string]string{
		"app-1a2b.js": "text/javascript; charset=utf-8", "/app-1a2b.js": "text/javascript; charset=utf-8", "tiny.css": "text/css; charset=utf-8",
		"icon.svg": "image/svg+xml", "fonts/a.woff2": "font/woff2", "_odd.xyz": "application/octet-stream",
	} {
		h := s.Asset(name)
		if h == nil {
			t.Errorf("%s is not there", name)
			continue
		}
		w := ask(h, "GET")
		if got := w.Header().Get("Content-Type"); got != want || w.Header().Get("Cache-Control") != keepForGood || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v, want type %s", name, w.Header(), want)
		}
	}
	for _, name := range []string{"", "/", "fonts", "fonts/", "../index.html", "../outside.js", "nothing.js", "./tiny.css"} {
		if s.Asset(name) != nil {
			t.Errorf("%q is something", name)
		}
	}
}

func TestPage(t *testing.T) {
	w := ask(site(t).Index(), "GET")
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; " +
			"require-trusted-types-for 'script'; trusted-types 'none'; report-uri api/v1/csp-reports",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestForms(t *testing.T) {
	script := site(t).Asset("app-1a2b.js")
	plain := ask(script, "GET").Body.Bytes()
	for accepted, zipped := range map[string]bool{
		"": false, "gzip": true, "br, gzip;q=0.5": true, "GZIP": true, "gzip;q=0": false, "deflate": false, "gzip; q=0.000": false, "gzippy": false,
	} {
		w := ask(script, "GET", "Accept-Encoding", accepted)
		body := w.Body.Bytes()
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != zipped {
			t.Errorf("%q: compressed %v, want %v", accepted, got, zipped)
			continue
		}
		if zipped {
			reader, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(reader); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(body, plain) || w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: %d bytes, Vary %q", accepted, len(body), w.Header().Get("Vary"))
		}
		again := ask(script, "GET", "Accept-Encoding", accepted, "If-None-Match", w.Header().Get("ETag"))
		if again.Code != http.StatusNotModified || again.Body.Len() != 0 {
			t.Errorf("%q: with its ETag got %d and %d bytes", accepted, again.Code, again.Body.Len())
		}
		head := ask(script, "HEAD", "Accept-Encoding", accepted)
		if head.Body.Len() != 0 || head.Header().Get("Content-Length") != w.Header().Get("Content-Length") || head.Header().Get("ETag") != w.Header().Get("ETag") {
			t.Errorf("%q: HEAD has %d bytes and %v", accepted, head.Body.Len(), head.Header())
		}
	}
	if ask(script, "GET", "If-None-Match", `"another"`).Code != http.StatusOK {
		t.Error("another ETag is taken for ours")
	}
}

func TestTheEmbeddedPageStands(t *testing.T) {
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if w := ask(s.Index(), "GET"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "<title>Errata</title>") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

func TestWithoutAPageThereIsNoSite(t *testing.T) {
	if _, err := newSite(fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "dist/index.html") {
		t.Errorf("got %v, want an error that names the file", err)
	}
}
