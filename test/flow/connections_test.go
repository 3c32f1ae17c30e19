package flow

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/test/servicetest"
)

// cutConnections sends HTTP that no client library would: bodies that end before
// their length, broken chunks, contradicting lengths. The server may answer or
// close the connection, also for unknown paths and keys, and takes no event.
func cutConnections(t *testing.T, s *service, k key, c *tally) {
	t.Helper()
	host := strings.TrimPrefix(s.url, "http://")
	begin := map[receiver]string{}
	for _, d := range []receiver{native, envelope, store, logsJSON} {
		path, header := attempt{receiver: d}.request(k)
		lines := "POST " + path + " HTTP/1.1\r\nHost: " + host + "\r\n"
		for i := 0; i < len(header); i += 2 {
			lines += header[i] + ": " + header[i+1] + "\r\n"
		}
		begin[d] = lines
	}
	bodies := map[receiver]string{native: nativeEvent, envelope: string(eventEnvelope(sentryEvent)), store: sentryEvent, logsJSON: otlpLogs}
	for d, head := range begin {
		body := bodies[d]
		half := body[:len(body)/2]
		for name, rest := range map[string]string{
			"half of the body":              fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), half),
			"nothing of the body":           fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)),
			"half of the headers":           "Content-Le",
			"a chunk that breaks off":       fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s", len(body), half),
			"no last chunk":                 fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(body), body),
			"a chunk whose size is no size": fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\nsize\r\n%s\r\n0\r\n\r\n", body),
			"a chunk of 16 EiB":             fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n%s\r\n0\r\n\r\n", body),
			"a negative length":             "Content-Length: -1\r\n\r\n" + body,
			"two lengths":                   fmt.Sprintf("Content-Length: %d\r\nContent-Length: 7\r\n\r\n%s", len(body), body),
			"a length of 1 TiB":             "Content-Length: 1099511627776\r\n\r\n" + body,
			"headers over the limit":        "X-Long: " + strings.Repeat("a", 64<<10) + "\r\n\r\n",
			"a line break in a header":      fmt.Sprintf("X-A: b\rX-C: d\r\nContent-Length: %d\r\n\r\n%s", len(body), half),
		} {
			status := speak(t, host, head+rest)
			c.count("connection, "+name, status)
			if status != 0 && status/100 != 4 {
				t.Errorf("%s: %s: %d", d, name, status)
			}
		}
	}
	wrongAddresses(t, s, k, c)
}

// speak sends the text and closes its side. It returns the status of the answer,
// 0 for none.
func speak(t *testing.T, host, text string) (status int) {
	t.Helper()
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(servicetest.RequestTimeout)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		return 0 // refused before the end
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		return 0
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

// wrongAddresses sends a good event to paths and with keys that do not exist.
func wrongAddresses(t *testing.T, s *service, k key, c *tally) {
	t.Helper()
	event := string(eventEnvelope(sentryEvent))
	good := fmt.Sprintf("/api/%d/envelope/", k.project)
	sentryKey := func(key string) []string { return []string{"X-Sentry-Auth", "Sentry sentry_key=" + key} }
	for _, w := range []struct {
		name, path, body string
		header           []string
		want             int
	}{
		{"no key", good, event, nil, 401},
		{"no key", "/api/1/store/", sentryEvent, nil, 401},
		{"no key", "/api/v1/events", nativeEvent, nil, 401},
		{"unknown key", good, event, sentryKey(strings.Repeat("0", 32)), 403},
		{"key in capitals", good, event, sentryKey(strings.ToUpper("a" + k.public[1:])), 403},
		{"half a key", good, event, sentryKey(k.public[:16]), 403},
		{"foreign project", "/api/77/envelope/", event, sentryKey(k.public), 403},
		{"project 0", "/api/0/envelope/", event, sentryKey(k.public), 403},
		{"project of 30 digits", "/api/" + strings.Repeat("1", 30) + "/envelope/", event, sentryKey(k.public), 404},
		{"project in words", "/api/shop/envelope/", event, sentryKey(k.public), 404},
		{"project with a sign", "/api/+1/envelope/", event, sentryKey(k.public), 404},
		{"key in a header that is too clever", good, event, []string{"X-Sentry-Auth", "Sentry sentry_key=" + k.public + ";x"}, 403},
		{"admin key", "/api/v1/events", nativeEvent, []string{"Authorization", "Bearer " + s.admin}, 403},
		{"wrong key", "/api/v1/events", nativeEvent, []string{"Authorization", "Bearer " + k.text + "x"}, 401},
		{"wrong key", "/v1/logs", otlpLogs, []string{"Authorization", "Bearer " + k.text[1:], "Content-Type", "application/json"}, 401},
		{"content type", "/v1/logs", otlpLogs, []string{"Authorization", "Bearer " + k.text, "Content-Type", "text/plain"}, 415},
		{"no such path", "/api/1/minidump/", event, sentryKey(k.public), 404},
	} {
		a := s.do(t, http.MethodPost, w.path, w.body, w.header...)
		c.count("wrong address, "+w.name, a.status)
		if a.status != w.want || len(a.body) > maxAnswer {
			t.Errorf("%s: %s: %d %s, want %d", w.name, w.path, a.status, a.body, w.want)
		}
		if strings.Contains(a.body, k.public) || strings.Contains(a.body, k.text) {
			t.Errorf("%s: %s: the answer repeats the key: %s", w.name, w.path, a.body)
		}
	}
}
