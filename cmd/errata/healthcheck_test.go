package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	errata "github.com/errata-log/errata"
)

// An alarm must not end a container, which would have the same alarm after its restart.
func TestHealthcheckByAnswer(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer string // "" for ready
		code   int
		says   string
	}{
		{"ready", "", exitOK, "ready"},
		{"an alarm stands", string(errata.KindDegraded), exitOK, "log-gap"},
		{"away", string(errata.KindLogUnavailable), exitFailed, "log-gap"},
		{"something else answers", "?", exitFailed, "503"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				switch c.answer {
				case "":
				case "?":
					w.WriteHeader(http.StatusServiceUnavailable)
				default:
					w.WriteHeader(http.StatusServiceUnavailable)
					_, _ = fmt.Fprintf(w, `{"error":{"code":%q,"message":"an alarm stands: log-gap"}}`, c.answer)
				}
			}))
			defer server.Close()
			got := command(t, nil, "healthcheck", "--url", server.URL)
			if got.code != c.code || !strings.Contains(got.out+got.err, c.says) {
				t.Errorf("got %+v, want code %d and %q", got, c.code, c.says)
			}
		})
	}
}
