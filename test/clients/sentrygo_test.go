package clients

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/getsentry/sentry-go"
	sentryhttp "github.com/getsentry/sentry-go/http"

	"github.com/errata-log/errata/test/servicetest"
)

// orderError is the error type of the Go applications.
type orderError struct{ number int }

func (e *orderError) Error() string { return fmt.Sprintf("order %d failed", e.number) }

// placed are the lines where an application threw; it sets them while it runs.
type placed struct{ nested, message, panicked int }

func TestSentryGo(t *testing.T) {
	s := start(t)
	var at placed
	serveWithSentry(t, s.DSN(t, s.URL), func(r *http.Request) { sentryGoShop(r, &at) },
		"/checkout?page=2&token=s3cret", "/checkout?page=2&token=s3cret", "/queue", "/boom")

	const file, function = "test/clients/sentrygo_test.go", "sentryGoShop"
	s.check(t,
		fields{
			Type: "database", Level: "error", Class: "*clients.orderError", Message: "load order: order 42 failed", Count: 2,
			Chain: []string{"*clients.orderError: order 42 failed", "*fmt.wrapError: load order: order 42 failed"},
		}.thrown(file, at.nested, function).checkout().shop("sentry"),
		fields{
			Level: "info", Message: "queue is full", URI: "/queue", Method: "POST", IP: "192.0.2.1",
			Chain: []string{""}, // it sends only frames
		}.thrown(file, at.message, function).shop("sentry"),
		fields{
			Level: "fatal", Class: "runtime.plainError", Message: "assignment to entry in nil map", URI: "/boom", Method: "POST", IP: "192.0.2.1",
			Chain: []string{"runtime.plainError: assignment to entry in nil map"},
		}.thrown(file, at.panicked, function).shop("sentry"),
	)
}

// serveWithSentry lets an application with sentry-go answer one request to each path, and
// returns when the SDK has sent what it captured.
func serveWithSentry(t *testing.T, dsn string, app func(*http.Request), paths ...string) {
	t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client, err := sentry.NewClient(sentry.ClientOptions{
		Dsn: dsn, Release: "shop@1.4.2", Environment: "production", ServerName: "web-1",
		AttachStacktrace: true, SendDefaultPII: true, HTTPTransport: transport, //nolint:staticcheck // applications still set it
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	handler := sentryhttp.New(sentryhttp.Options{}).HandleFunc(func(_ http.ResponseWriter, r *http.Request) { app(r) })
	for _, path := range paths {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, nil)
		hub := sentry.NewHub(client, sentry.NewScope())
		handler.ServeHTTP(httptest.NewRecorder(), r.WithContext(sentry.SetHubOnContext(r.Context(), hub)))
	}
	ctx, cancel := context.WithTimeout(t.Context(), servicetest.RequestTimeout)
	defer cancel()
	if !client.FlushWithContext(ctx) {
		t.Fatal("the SDK did not get rid of its events")
	}
}

// sentryGoShop is the application.
func sentryGoShop(r *http.Request, at *placed) {
	hub := sentry.GetHubFromContext(r.Context())
	switch r.URL.Path {
	case "/checkout":
		hub.Scope().SetTag("book", "database")
		hub.Scope().SetUser(sentry.User{ID: "1204", IPAddress: "203.0.113.9"})
		at.nested = here() + 1
		hub.CaptureException(fmt.Errorf("load order: %w", &orderError{42}))
	case "/queue":
		at.message = here() + 1
		hub.CaptureMessage("queue is full")
	case "/boom":
		var stock map[string]int
		at.panicked = here() + 1
		stock["tea"]++ //nolint:staticcheck // that it panics is the point
	}
}
