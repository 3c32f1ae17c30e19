package ingest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/ingest/native"
	"github.com/errata-log/errata/ingest/otlp"
	"github.com/errata-log/errata/ingest/sentry"
)

// untouched is a body that must not be read.
type untouched struct{ t *testing.T }

func (u untouched) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

// TestArchivedProjectsAreRefused: each receiver answers 403 in the form of its protocol,
// before it reads the body, and takes events again after the project has come back.
//
// long: it is a table of all receivers.
func TestArchivedProjectsAreRefused(t *testing.T) {
	archived := true
	registry, recorder := prometheus.NewRegistry(), &doortest.Recorder{}
	cfg := door.Config{
		Accepter: recorder, Keyring: doortest.Keys{}, Registerer: registry,
		Archived: func(project uint64) bool { return archived && project == doortest.Project },
	}
	events, err1 := native.New(cfg)
	envelopes, err2 := sentry.New(cfg)
	telemetry, err3 := otlp.New(otlp.Config{Config: cfg})
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			t.Fatal(err)
		}
	}
	token := []string{"X-Api-Key", doortest.Token, "Content-Type", "application/json"}
	public := []string{"X-Sentry-Auth", "Sentry sentry_key=" + doortest.PublicKey, "Content-Type", "application/json"}
	const (
		event  = `{"message":"it broke"}`
		spans  = `{"resourceSpans":[]}`
		said   = "project 7 is archived"
		inside = `{"dsn":"https://` + doortest.PublicKey + `@errata.example.com/7"}` + "\n" + `{"type":"event"}` + "\n" + event
	)
	for _, c := range []struct {
		name    string
		handler http.Handler
		path    string
		headers []string
		body    string // "" where the body must not be read
		form    string
	}{
		{"native", events, "/api/v1/events", token, "", `{"error":{"code":"project_archived",`},
		{"envelope", envelopes, "/api/7/envelope/", public, "", `{"detail":"`},
		{"envelope with its key inside", envelopes, "/api/7/envelope/", nil, inside, `{"detail":"`},
		{"store", envelopes, "/api/7/store/", public, "", `{"detail":"`},
		{"logs", telemetry, "/v1/logs", token, "", `{"code":7,"message":"`},
		{"traces", telemetry, "/v1/traces", token, "", `{"code":7,"message":"`},
		{"traces of a Sentry integration", telemetry, "/api/7/integration/otlp/v1/traces", public, "", `{"code":7,"message":"`},
	} {
		send := func(body io.Reader) *httptest.ResponseRecorder {
			r := httptest.NewRequest(http.MethodPost, c.path, body)
			for i := 0; i < len(c.headers); i += 2 {
				r.Header.Set(c.headers[i], c.headers[i+1])
			}
			w := httptest.NewRecorder()
			c.handler.ServeHTTP(w, r)
			return w
		}
		archived = true
		var body io.Reader = untouched{t}
		if c.body != "" {
			body = strings.NewReader(c.body)
		}
		w := send(body)
		if w.Code != http.StatusForbidden || !strings.HasPrefix(w.Body.String(), c.form) || !strings.Contains(w.Body.String(), said) || w.Header().Get("Retry-After") != "" {
			t.Errorf("%s: %d %s %v", c.name, w.Code, w.Body, w.Header())
		}
		archived = false
		good := map[string]string{"native": event, "store": event, "logs": `{"resourceLogs":[]}`, "envelope": inside}[c.name]
		if good == "" {
			good = spans
		}
		if c.body != "" {
			good = c.body
		}
		if w := send(strings.NewReader(good)); w.Code >= 300 {
			t.Errorf("%s, back from the archive: %d %s", c.name, w.Code, w.Body)
		}
	}
	if n := recorder.Count(); n != 4 {
		t.Errorf("%d events were taken, want those of the four after the archive", n)
	}
	if n := doortest.Counters(registry)["errata_door_requests_total project_archived sentry"]; n == 0 {
		t.Errorf("the refusals are not counted: %v", doortest.Counters(registry))
	}
}
