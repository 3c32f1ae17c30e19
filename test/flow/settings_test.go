package flow

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
)

const logSettingsPath = "/api/v1/admin/tools/logs/settings"

// setLogging changes logging settings, and checks the answer and the next read.
func (s *service) setLogging(t *testing.T, body, want string) {
	t.Helper()
	want = `{"data":` + want + "}\n"
	for _, method := range []string{http.MethodPut, http.MethodGet} {
		a := s.do(t, method, logSettingsPath, body, "Authorization", "Bearer "+s.admin)
		if a.status != http.StatusOK || a.body != want {
			t.Errorf("%s %s: %d %s, want %s", method, body, a.status, a.body, want)
		}
		body = ""
	}
}

// sendOneEach sends one new error to every receiver and checks the reported
// number: "" where a receiver does not report it.
func (s *service) sendOneEach(t *testing.T, k key, round, native, others string) {
	t.Helper()
	bearer := "Bearer " + k.text
	for _, c := range []struct {
		path, auth, value, body string
		status                  int
		recorded                string
	}{
		{"/api/v1/events", "Authorization", bearer, `{"message":"native ` + round + `"}`, http.StatusAccepted, native},
		{fmt.Sprintf("/api/%d/envelope/", k.project), "X-Sentry-Auth", "Sentry sentry_key=" + k.public,
			"{}\n{\"type\":\"event\"}\n{\"message\":\"sentry " + round + "\"}\n", http.StatusOK, others},
		{fmt.Sprintf("/api/%d/store/", k.project), "X-Sentry-Auth", "Sentry sentry_key=" + k.public,
			`{"message":"store ` + round + `"}`, http.StatusOK, others},
		{"/v1/logs", "Authorization", bearer, `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"severityNumber":17,"body":{"stringValue":"otlp ` + round + `"}}]}]}]}`,
			http.StatusOK, others},
	} {
		a := s.do(t, http.MethodPost, c.path, c.body, c.auth, c.value, "Content-Type", "application/json")
		if got := a.header.Get("X-Errata-Recorded"); a.status != c.status || got != c.recorded {
			t.Errorf("%s, %s: %d, recorded %q, want %d, %q\n%s", round, c.path, a.status, got, c.status, c.recorded, a.body)
		}
	}
}

// TestSwitchedOffAndOn: while error_log is off, every receiver accepts errors and
// none is kept, also after a restart. Switched on again, they count.
// long: the steps of one story, each of which begins where the last one ended.
func TestSwitchedOffAndOn(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s := startIn(t, data)
	k := s.firstKey(t)
	const rest = `"error_debug":false,"development":false,"module_log":false,"query_logging":false,"query_logging_ips":[]}`
	const receivers = 4
	s.setLogging(t, "", `{"error_log":true,`+rest)
	s.sendOneEach(t, k, "at first", "1", "")
	s.checkAccepted(t, receivers)

	s.setLogging(t, `{"error_log":0}`, `{"error_log":false,`+rest)
	s.sendOneEach(t, k, "off", "0", "0")
	s.sendOneEach(t, k, "still off", "0", "0")
	s.checkAccepted(t, receivers)
	if dropped := s.metrics(t)["errata_events_dropped_total"]; dropped != 2*receivers {
		t.Errorf("%v events counted as dropped, want %d", dropped, 2*receivers)
	}

	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s = startIn(t, data)
	s.sendOneEach(t, k, "off after a restart", "0", "0")
	s.setLogging(t, `{"development":1,"query_logging_ips":"10.1.2.3/8 ::1"}`,
		`{"error_log":false,"error_debug":false,"development":true,"module_log":false,"query_logging":false,"query_logging_ips":["10.0.0.0/8","::1"]}`)
	s.setLogging(t, `{"error_log":true,"query_logging_ips":[]}`,
		`{"error_log":true,"error_debug":false,"development":true,"module_log":false,"query_logging":false,"query_logging_ips":[]}`)
	s.sendOneEach(t, k, "on again", "1", "")
	s.settle(t)
	if _, meta := s.list(t, ""); meta.Total != 2*receivers {
		t.Errorf("%d records, want %d", meta.Total, 2*receivers)
	}
	a := s.do(t, http.MethodPost, "/api/v1/events", `{"message":"x"}`, "Authorization", "Bearer "+k.text)
	if got := a.header.Get("X-Errata-Development"); got != "1" {
		t.Errorf("development is told as %q, want 1", got)
	}
}
