package api_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/test/certtest"
)

// serveTLS starts a server with a certificate for 127.0.0.1, and returns a client of it.
func serveTLS(t *testing.T, handler http.Handler, logger *slog.Logger, prepare func(*api.Server)) (*http.Client, string) {
	t.Helper()
	authority := certtest.New(t)
	pair := authority.Issue(t, certtest.Template("127.0.0.1"))
	cert, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	s, err := api.NewServer(api.ServerConfig{Addr: "127.0.0.1:0", Handler: handler, Logger: logger, TLS: &tls.Config{Certificates: []tls.Certificate{cert}}})
	if err != nil {
		t.Fatal(err)
	}
	prepare(s)
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority.Pool()}, ForceAttemptHTTP2: true}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := errors.Join(s.Shutdown(ctx), <-served); err != nil {
			t.Errorf("shut down: %v", err)
		}
	})
	return &http.Client{Transport: transport}, "https://" + s.Addr().String()
}

// TestLimitsOverHTTP2: the limits of the server hold for streams of one connection too.
func TestLimitsOverHTTP2(t *testing.T) {
	ended := make(chan error, 1)
	client, url := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		if r.Method == http.MethodPost {
			ended <- err
		}
		_, _ = io.WriteString(w, r.Proto)
	}), nil, func(s *api.Server) { s.Hasten(time.Second, time.Hour, 100*time.Millisecond) })
	for name, first := range map[string]string{"a body that does not begin": "", "a body that pauses": strings.Repeat("x", 200<<10)} {
		body, more := io.Pipe()
		go func() { _, _ = io.WriteString(more, first) }() // and never ends
		resp, err := client.Post(url, "text/plain", body)
		if err == nil {
			resp.Body.Close()
		}
		var timeout net.Error
		if err := <-ended; !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("%s: read ended with %v, want a timeout", name, err)
		}
		more.Close()
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Long", strings.Repeat("a", 24<<10))
	resp, err := client.Do(req)
	if err == nil {
		resp.Body.Close()
	}
	if err == nil && resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("24 KiB of headers: %d, want 431", resp.StatusCode)
	}
	resp, err = client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || string(text) != "HTTP/2.0" {
		t.Errorf("got %q, %v, want HTTP/2.0", text, err)
	}
}

// TestStrangersAtTheTLSPort: what does not even speak TLS is told so, and fills no log.
func TestStrangersAtTheTLSPort(t *testing.T) {
	var log bytes.Buffer
	client, url := serveTLS(t, http.NotFoundHandler(), slog.New(slog.NewTextHandler(&log, nil)), func(*api.Server) {})
	if got := talk(t, strings.Replace(url, "https", "http", 1), "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.0 400 ") || !strings.Contains(got, "HTTPS") {
		t.Errorf("HTTP without TLS: got %q", got)
	}
	stranger := &http.Transport{}
	defer stranger.CloseIdleConnections()
	if _, err := (&http.Client{Transport: stranger}).Get(url); err == nil {
		t.Error("a client that does not trust the authority was answered")
	}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if log.Len() > 0 {
		t.Errorf("logged: %s", &log)
	}
}
