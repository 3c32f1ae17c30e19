package flow

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// contextEvents are an error with everything around it, as each receiver takes it.
func contextEvents(k key, round string) []message {
	const around = `"in_app":true,"colno":5,"context_line":"src7","vars":{"var7":1},"context":"src7"`
	const crumbs, contexts = `[{"category":"c","message":"crumb7"}]`, `{"own":{"a":"ctx7"}}`
	event := `{"user":{"id":"usr7"},"breadcrumbs":` + crumbs + `,"contexts":` + contexts + `,"extra":{"a":"xtr7","user_name":"usr7"},"exception":[{"type":"Sentry` + round +
		`","stacktrace":{"frames":[{"filename":"a.py",` + around + `}]}}]}`
	native := `{"message":"m","exception_class":"Native` + round + `","user_id":"usr7","breadcrumbs":` + crumbs + `,"contexts":` + contexts +
		`,"payload":{"a":"xtr7"},"tags":{"user.id":"usr7"},"frames":[{"file":"a.go",` + around + `}]}`
	const list = `{"arrayValue":{"values":[{"stringValue":%q}]}}`
	otlp := fmt.Sprintf(`{"resourceLogs":[{"resource":{"attributes":[{"key":"host.arch","value":`+list+`}]},"scopeLogs":[{"logRecords":[{"severityNumber":17,"attributes":[`+
		`{"key":"exception.type","value":{"stringValue":"Otlp%s"}},{"key":"user.id","value":{"stringValue":"usr7"}},{"key":"a","value":`+list+`}]}]}]}]}`, "ctx7", round, "xtr7")
	bearer := []string{"Authorization", "Bearer " + k.text, "Content-Type", "application/json"}
	return []message{
		{fmt.Sprintf("/api/%d/envelope/", k.project), string(eventEnvelope(event)), []string{"X-Sentry-Auth", "Sentry sentry_version=7, sentry_key=" + k.public}, 1},
		{"/api/v1/events", native, bearer, 1}, {"/v1/logs", otlp, bearer, 1},
	}
}

// TestSwitchesOfContext: whichever way an error comes, its project decides what is kept of
// what stands around it.
func TestSwitchesOfContext(t *testing.T) {
	s := start(t)
	k := s.firstKey(t)
	check := func(round string, kept bool) {
		t.Helper()
		for _, m := range contextEvents(k, round) {
			s.mustPost(t, m)
		}
		rows := s.newRecords(t)
		if len(rows) != 3 {
			t.Fatalf("%d records, want 3", len(rows))
		}
		for _, row := range rows {
			payload := string(s.detail(t, row.Signature, row.Type).Payload)
			words := []string{"usr7", "ctx7", "xtr7"}
			if !strings.HasPrefix(row.ExceptionClass, "Otlp") {
				words = append(words, "crumb7", "src7", "var7")
			}
			for _, word := range words {
				if strings.Contains(payload, word) != kept {
					t.Errorf("%s has %s: %t, want %t\n%s", row.ExceptionClass, word, !kept, kept, payload)
				}
			}
		}
	}
	patch := func(body string) {
		t.Helper()
		path := fmt.Sprint("/api/v1/admin/projects/", k.project)
		if a := s.do(t, http.MethodPatch, path, `{"context":`+body+`}`, "Authorization", "Bearer "+s.admin, "Content-Type", "application/json"); a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	check("A", true)
	patch(`{"source_lines":false,"breadcrumbs":false,"extra":false,"vars":"off","users":false}`)
	check("B", false)
	patch(`{"source_lines":true,"breadcrumbs":true,"extra":true,"vars":"values","users":true}`)
	check("C", true)
}
