package contract

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/errata-log/errata/app"
)

// TestLimitOfEvents: every receiver refuses a key that sends more than its quota,
// as the document says.
func TestLimitOfEvents(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *app.Options) { o.KeyEventsPerMinute = 6 }) // one at once
	dsn, err := url.Parse(s.File(t, "keys/dsn"))
	if err != nil {
		t.Fatal(err)
	}
	public := []string{"X-Sentry-Auth", "Sentry sentry_key=" + dsn.User.Username(), "Content-Type", "application/x-sentry-envelope"}
	s.send(t, trial("system", "the only one"))
	for _, r := range []request{
		{method: http.MethodPost, path: eventsPath, body: `{"message":"one too many"}`, key: s.Ingest},
		{method: http.MethodPost, path: "/v1/logs", body: `{"resourceLogs":[]}`, key: s.Ingest},
		{method: http.MethodPost, path: "/v1/traces", body: `{"resourceSpans":[]}`, key: s.Ingest},
		{method: http.MethodPost, path: "/api/1/envelope/", body: "{}\n{\"type\":\"event\"}\n{\"message\":\"one too many\"}", key: "-", header: public},
	} {
		a := s.do(t, r)
		if a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s, Retry-After %q", r, a.status, a.body, a.header.Get("Retry-After"))
		}
		if limits := a.header.Get("X-Sentry-Rate-Limits"); strings.HasPrefix(r.path, "/api/1/") && !strings.HasSuffix(limits, ":error;default;log_item:key:quota") {
			t.Errorf("%s: X-Sentry-Rate-Limits %q", r, limits)
		}
	}
}
