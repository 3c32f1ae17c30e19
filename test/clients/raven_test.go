package clients

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/getsentry/raven-go"
	"github.com/pkg/errors" //nolint:depguard // what applications of its time wrap theirs with
)

// TestRaven is the client before sentry-go, which old applications still use.
func TestRaven(t *testing.T) {
	s := start(t)
	client, err := raven.New(s.DSN(t, s.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	client.SetRelease("shop@1.4.2")
	client.SetEnvironment("production")
	client.SetIncludePaths([]string{"github.com/errata-log/errata/test/clients"})
	replaced := raven.DefaultClient
	raven.DefaultClient = client // its middleware sends no other
	defer func() { raven.DefaultClient = replaced }()

	var at placed
	handler := raven.RecoveryHandler(func(_ http.ResponseWriter, r *http.Request) { ravenShop(client, r, &at) })
	for _, path := range []string{"/checkout?page=2&token=s3cret", "/checkout?page=2&token=s3cret", "/queue", "/boom"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, nil)
		handler(httptest.NewRecorder(), r)
	}
	client.Wait()

	const file, function = "test/clients/raven_test.go", "ravenShop"
	s.check(t,
		fields{
			Type: "database", Level: "error", Class: "*clients.orderError", Message: "order 42 failed", Count: 2,
			Chain: []string{"*clients.orderError: order 42 failed"}, // it sends only the cause
		}.thrown(file, at.nested, function).checkout().shop("sentry"),
		fields{Level: "error", Message: "queue is full", URI: "/queue", Method: "POST", IP: "192.0.2.1"}.shop("sentry"), // and no stack
		fields{
			Level: "error", Class: "*errors.errorString", Message: "assignment to entry in nil map", URI: "/boom", Method: "POST", IP: "192.0.2.1",
			Chain: []string{"*errors.errorString: assignment to entry in nil map"},
		}.thrown(file, at.panicked, function).shop("sentry"),
	)
}

// ravenShop is the application.
func ravenShop(client *raven.Client, r *http.Request, at *placed) {
	client.SetHttpContext(raven.NewHttp(r))
	switch r.URL.Path {
	case "/checkout":
		client.SetUserContext(&raven.User{ID: "1204", IP: "203.0.113.9"})
		defer client.ClearContext()
		err := errors.Wrap(&orderError{42}, "load order")
		at.nested = here() + 1
		client.CaptureError(err, map[string]string{"book": "database"})
	case "/queue":
		client.CaptureMessage("queue is full", map[string]string{"queue": "mail"})
	case "/boom":
		var stock map[string]int
		at.panicked = here() + 1
		stock["tea"]++ //nolint:staticcheck // that it panics is the point
	}
}
