package main

import (
	"bufio"
	"fmt"
	"io"
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

func TestHealthcheckOfAServiceThatIsNotReady(t *testing.T) {
	// The answer is not that of a ready Errata.
	for name, answer := range map[string]string{
		"not ready":  "HTTP/1.1 503 Service Unavailable\r\n\r\n" + `{"error":{"code":"store_unavailable","message":"ClickHouse does not answer."}}`,
		"not Errata": "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n",
	} {
		url := answerOnce(t, answer)
		got := command(t, nil, "healthcheck", "--url", url)
		if got.code != exitFailed || !strings.HasPrefix(got.err, "errata: not ready: ") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// answerOnce answers one request with raw bytes.
func answerOnce(t *testing.T, answer string) (url string) {
	t.Helper()
	listener := listenLocal(t)
	done := make(chan struct{})
	go func() { // ends with its only request, or when the listener is closed
		defer close(done)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		if _, err := bufio.NewReader(conn).ReadString('\n'); err == nil {
			_, _ = io.WriteString(conn, answer)
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
	})
	return "http://" + listener.Addr().String()
}
