package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/errata-log/errata/client"
)

func TestRecover(t *testing.T) {
	at := 0
	var shelf []int
	for _, c := range []struct {
		name           string
		do             func()
		class, message string
	}{
		{"an index", func() { at = line(); _ = shelf[len(os.Args)+3] }, "runtime.boundsError", "runtime error: index out of range"},
		{"a nil pointer", func() { at = line(); _ = (*stockError)(nil).article }, "runtime.errorString", "runtime error: invalid memory address"},
		{"an error", func() { at = line(); panic(&stockError{"tea"}) }, "*client_test.stockError", "out of tea"},
		{"a text", func() { at = line(); panic("no more") }, "panic", "no more"},
		{"a number", func() { at = line(); panic(7) }, "panic", "7"},
		{"an object", func() { at = line(); panic(shelf) }, "panic", "panic with a []int"},
		{"while panicking", func() {
			defer func() { at = line(); panic("second") }()
			panic("first")
		}, "panic", "second"},
	} {
		got := captured(t, func(l *client.Client) {
			func() {
				defer l.Recover(t.Context(), client.With("name", c.name))
				c.do()
			}()
		})
		if got.ExceptionClass != c.class || !strings.Contains(got.Message, c.message) || got.Level != "fatal" || got.Payload["handled"] != false || got.Payload["name"] != c.name {
			t.Errorf("%s: %+v", c.name, got)
		}
		if last := got.Frames[len(got.Frames)-1]; got.File != "client/recover_test.go" || got.Line != at || last.Line != at {
			t.Errorf("%s: at %s:%d, the last frame %+v, want line %d", c.name, got.File, got.Line, last, at)
		}
	}
}

func TestRecoverAndRepanic(t *testing.T) {
	r := &recorder{}
	c := newClient(t, r)
	ended, cancel := context.WithCancel(t.Context())
	cancel() // the request is over, but the event must be sent
	var thrown any
	func() {
		defer func() { thrown = recover() }()
		defer c.RecoverAndRepanic(ended)
		panic(errPlain)
	}()
	if err, ok := thrown.(error); !ok || !errors.Is(err, errPlain) {
		t.Errorf("the panic went on as %v", thrown)
	}
	if got := r.one(t); got.Level != "fatal" { // without a flush
		t.Errorf("%+v", got)
	}
	func() {
		defer c.RecoverAndRepanic(t.Context())
	}()
	var none *client.Client
	func() {
		defer func() { thrown = recover() }()
		defer none.Recover(t.Context())
		panic("kept")
	}()
	if thrown != "kept" {
		t.Errorf("a client that is none ended the panic: %v", thrown)
	}
}

// pages are handlers that fail in many ways.
func pages(c *client.Client) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/panic", func(http.ResponseWriter, *http.Request) { panic("no more") })
	mux.HandleFunc("/half", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		panic("no more")
	})
	mux.HandleFunc("/abort", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("/error", func(w http.ResponseWriter, r *http.Request) {
		c.Capture(r.Context(), errPlain)
		w.WriteHeader(http.StatusTeapot)
	})
	mux.HandleFunc("/hijack", func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
		_ = conn.Close()
	})
	mux.HandleFunc("/copy", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.Copy(w, strings.NewReader("copied")) })
	return mux
}

func TestMiddleware(t *testing.T) {
	r := &recorder{}
	c := newClient(t, r)
	s := httptest.NewServer(c.Middleware(pages(c)))
	t.Cleanup(s.Close)
	get := func(path string) (status int, body string, err error) {
		resp, err := s.Client().Get(s.URL + path)
		if err != nil {
			return 0, "", err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text), err
	}
	for _, c := range []struct {
		path   string
		status int
		body   string
		fails  bool
	}{
		{"/panic?q=1", 500, "Internal Server Error\n", false}, {"/half", 200, "half", true}, {"/abort", 0, "", true},
		{"/error", 418, "", false}, {"/hijack", 204, "", false}, {"/copy", 200, "copied", false},
	} {
		status, body, err := get(c.path)
		if status != c.status || body != c.body || (err != nil) != c.fails {
			t.Errorf("%s: %d %q %v", c.path, status, body, err)
		}
	}
	flush(t, c)
	var got []string
	for _, e := range r.events(t) {
		got = append(got, strings.Join([]string{e.RequestMethod, e.RequestURI, e.IP, e.Level, e.Message, e.File}, " "))
	}
	want := []string{
		"GET /panic?q=1 127.0.0.1 fatal no more client/recover_test.go",
		"GET /half 127.0.0.1 fatal no more client/recover_test.go",
		"GET /error 127.0.0.1 error plain client/recover_test.go",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
}
