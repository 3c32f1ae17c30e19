package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/errata-log/errata/api"
)

// echo is a receiver that says which one it is and what it got.
func echo(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			body = []byte(err.Error())
		}
		w.Header().Set("Content-Type", "text/x-echo")
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, strings.Join([]string{name, r.Method, r.URL.Path, string(body)}, " "))
	})
}

func withReceivers(c *api.Config) {
	c.Receivers = api.Receivers{
		Native: echo("native"), SentryEnvelope: echo("envelope"), SentryStore: echo("store"),
		ModuleLog: echo("modules"), QueryLog: echo("queries"),
		OTLPLogs: echo("logs"), OTLPTraces: echo("traces"), OTLPMetrics: echo("metrics"),
	}
}

func TestReceiversGetTheirRequestsAsTheyAre(t *testing.T) {
	b := newBench(t, withReceivers)
	body := "not JSON \x00 at all" + strings.Repeat("x", 2<<20) // more than the API takes
	for path, receiver := range map[string]string{
		"/api/v1/events":       "native",
		"/api/1/envelope":      "envelope",
		"/api/v1/envelope":     "envelope", // beside /api/v1/… of the API
		"/api/4294967/store":   "store",
		"/api/v1/admin/store":  "",
		"/api/1/2/envelope":    "",
		"/api/envelope":        "",
		"/v1/logs":             "logs",
		"/v1/traces":           "traces",
		"/v1/metrics":          "metrics",
		"/api/v1/events/extra": "",
	} {
		for _, slash := range []string{"", "/"} {
			for _, method := range []string{http.MethodPost, http.MethodOptions} {
				w := b.do(request{method: method, target: path + slash + "?sentry_key=x", body: body})
				if receiver == "" {
					if w.Code != http.StatusNotFound {
						t.Errorf("%s %s: got %d, want 404", method, path+slash, w.Code)
					}
					continue
				}
				want := strings.Join([]string{receiver, method, path + slash, body}, " ")
				if w.Code != http.StatusAccepted || w.Body.String() != want {
					t.Errorf("%s %s: got %d %.80q…", method, path+slash, w.Code, w.Body)
				}
				if len(w.Header()) != 1 {
					t.Errorf("%s %s: headers were added: %v", method, path+slash, w.Header())
				}
			}
		}
	}
	if strings.Contains(b.log.String(), "/v1/logs") || strings.Contains(b.log.String(), "envelope") {
		t.Error("requests of receivers are logged")
	}
}

func TestReceiversTakeNothingButTheirMethods(t *testing.T) {
	b := newBench(t, withReceivers)
	for _, path := range []string{"/api/v1/events", "/api/1/envelope/", "/v1/logs"} {
		w := b.do(request{method: "GET", target: path})
		allow := strings.Split(w.Header().Get("Allow"), ", ")
		slices.Sort(allow)
		if w.Code != http.StatusMethodNotAllowed || !slices.Equal(allow, []string{"OPTIONS", "POST"}) || code(t, w) != "method_not_allowed" {
			t.Errorf("GET %s: got %d, Allow %v, %s", path, w.Code, allow, w.Body)
		}
	}
}

func TestReceiverThatIsMissing(t *testing.T) {
	b := newBench(t, func(c *api.Config) { c.Receivers.Native = echo("native") })
	for path, want := range map[string]int{"/api/v1/events": 202, "/api/1/envelope/": 404, "/v1/logs": 404} {
		if w := b.do(request{method: "POST", target: path}); w.Code != want {
			t.Errorf("POST %s: got %d, want %d", path, w.Code, want)
		}
	}
}

func TestReceiverThatPanics(t *testing.T) {
	var late bool
	b := newBench(t, func(c *api.Config) {
		c.Receivers.Native = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if late {
				_, _ = io.WriteString(w, "half an ans")
			}
			panic("planted panic")
		})
	})
	w := b.do(request{method: "POST", target: "/api/v1/events"})
	if w.Code != 500 || code(t, w) != "internal" || strings.Contains(w.Body.String(), "planted") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if lines := b.log.String(); !strings.Contains(lines, "planted panic") || !strings.Contains(lines, "receivers_test.go") {
		t.Errorf("the log lacks the panic or its place:\n%s", lines)
	}
	late = true
	func() {
		defer func() {
			if caught := recover(); caught != http.ErrAbortHandler {
				t.Errorf("half an answer was sent and then: recovered %v, want the connection cut", caught)
			}
		}()
		b.do(request{method: "POST", target: "/api/v1/events"})
	}()
}

// BenchmarkReceive measures what this package adds to each event.
func BenchmarkReceive(b *testing.B) {
	bench := newBench(b, func(c *api.Config) {
		c.Receivers.SentryEnvelope = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	})
	req := httptest.NewRequest("POST", "/api/1/envelope/", http.NoBody)
	w := httptest.NewRecorder()
	b.ReportAllocs()
	for b.Loop() {
		bench.handler.ServeHTTP(w, req)
	}
}
