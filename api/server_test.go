package api_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/query"
)

// serve starts a server on a free port and returns its URL.
func serve(t *testing.T, handler http.Handler, prepare func(*api.Server)) (*api.Server, string) {
	t.Helper()
	s, err := api.NewServer(api.ServerConfig{Addr: "127.0.0.1:0", Handler: handler})
	if err != nil {
		t.Fatal(err)
	}
	if prepare != nil {
		prepare(s)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shut down: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("served: %v", err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return s, "http://" + s.Addr().String()
}

func TestServerNamesWhatIsWrong(t *testing.T) {
	if _, err := api.NewServer(api.ServerConfig{Addr: "127.0.0.1:0"}); err == nil || !strings.Contains(err.Error(), "Handler") {
		t.Errorf("no handler: got %v", err)
	}
	s, err := api.NewServer(api.ServerConfig{Addr: "127.0.0.1:0", Handler: http.NotFoundHandler()})
	if err != nil {
		t.Fatal(err)
	}
	taken := s.Addr().String()
	if _, err := api.NewServer(api.ServerConfig{Addr: taken, Handler: http.NotFoundHandler()}); err == nil || !strings.Contains(err.Error(), taken) {
		t.Errorf("an address that is taken: got %v", err)
	}
	for range 2 { // before Serve, and twice
		if err := s.Shutdown(t.Context()); err != nil {
			t.Errorf("shut down: %v", err)
		}
	}
	if err := s.Serve(); err != nil {
		t.Errorf("serve after shutdown: %v", err)
	}
	if _, err := net.Dial("tcp", taken); err == nil {
		t.Error("the listener is still open")
	}
}

func TestShutdownWaitsForRunningRequests(t *testing.T) {
	running, finish := make(chan struct{}), make(chan struct{})
	s, address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(running)
		<-finish
		_, _ = io.WriteString(w, "done")
	}), nil)
	answer := make(chan string, 1)
	go func() {
		resp, err := http.Get(address)
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		answer <- string(text)
	}()
	<-running
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(context.Background()) }()
	// The listener closes first, while the request still runs.
	for {
		conn, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			break
		}
		conn.Close()
	}
	select {
	case err := <-stopped:
		t.Fatalf("did not wait for the running request: %v", err)
	default:
	}
	close(finish)
	if err := <-stopped; err != nil {
		t.Errorf("shut down: %v", err)
	}
	if got := <-answer; got != "done" {
		t.Errorf("the running request got %q", got)
	}
}

func TestShutdownCutsOffAfterItsTime(t *testing.T) {
	running := make(chan struct{})
	ended := make(chan struct{})
	s, address := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(running)
		<-r.Context().Done()
		close(ended)
	}), nil)
	go func() {
		resp, err := http.Get(address)
		if err == nil {
			resp.Body.Close()
		}
	}()
	<-running
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		t.Error("the request still runs")
	}
}

// talk sends raw bytes and returns everything that comes back.
func talk(t *testing.T, address string, parts ...string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		if _, err := io.WriteString(conn, part); err != nil {
			break // the server has closed the connection; its answer is read below
		}
	}
	text, _ := io.ReadAll(conn)
	return string(text)
}

func TestServerBoundsHeaders(t *testing.T) {
	_, hasty := serve(t, http.NotFoundHandler(), func(s *api.Server) { s.Hasten(100*time.Millisecond, time.Minute, time.Minute) })
	if got := talk(t, hasty, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow:"); strings.Contains(got, "200") || strings.Contains(got, "404") {
		t.Errorf("headers that never end got an answer: %q", got)
	}
	_, address := serve(t, http.NotFoundHandler(), nil)
	long := "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Long: " + strings.Repeat("a", 24<<10) + "\r\n\r\n"
	if got := talk(t, address, long); !strings.HasPrefix(got, "HTTP/1.1 431 ") {
		t.Errorf("24 KiB of headers: got %.60q, want 431", got)
	}
	for name, smuggled := range map[string]string{
		"two lengths":        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
		"unknown encoding":   "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
		"space before colon": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length : 5\r\n\r\nhello",
		"two hosts":          "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
		"no host":            "GET / HTTP/1.1\r\n\r\n",
	} {
		if got := talk(t, address, smuggled); !strings.HasPrefix(got, "HTTP/1.1 400 ") && !strings.HasPrefix(got, "HTTP/1.1 501 ") {
			t.Errorf("%s: got %.60q, want it refused", name, got)
		}
	}
}

func TestServerBoundsSlowBodies(t *testing.T) {
	ended := make(chan error, 1)
	_, address := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		ended <- err
	}), func(s *api.Server) { s.Hasten(time.Second, 100*time.Millisecond, time.Minute) })
	talk(t, address, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhel")
	var timeout net.Error
	if err := <-ended; !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("a body that never ends: read ended with %v, want a timeout", err)
	}
}

// TestBodiesKeepComing: a body that may take long as a whole still must not
// pause.
func TestBodiesKeepComing(t *testing.T) {
	ended := make(chan error, 1)
	_, address := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		ended <- err
	}), func(s *api.Server) { s.Hasten(time.Second, time.Hour, 100*time.Millisecond) })
	for name, request := range map[string]string{
		"a small one that does not begin": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n",
		"a large one that does not begin": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n",
		"a large one that pauses":         "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n" + strings.Repeat("x", 200<<10),
		"chunks that stay away":           "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
	} {
		began := time.Now()
		talk(t, address, request)
		var timeout net.Error
		if err := <-ended; !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("%s: read ended with %v, want a timeout", name, err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: ended after %v", name, took)
		}
	}
}

// TestTricklesEnd: a body slower than bodyFloor ends, even without a pause.
func TestTricklesEnd(t *testing.T) {
	ended := make(chan error, 1)
	_, address := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		ended <- err
	}), func(s *api.Server) { s.Hasten(time.Second, time.Hour, 300*time.Millisecond) })
	conn, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	drip := time.NewTicker(20 * time.Millisecond) // not a wait for something: the slowness itself, 50 bytes a second
	defer drip.Stop()
	var timeout net.Error
	for {
		select {
		case err := <-ended:
			if !errors.As(err, &timeout) || !timeout.Timeout() {
				t.Errorf("read ended with %v, want a timeout", err)
			}
			return
		case <-drip.C:
			if _, err := conn.Write([]byte("x")); err != nil {
				drip.Stop() // the server has closed it, and tells why
			}
		}
	}
}

// TestLargeBodiesGetMoreTime sends one in two halves with the limit of small
// ones in between.
func TestLargeBodiesGetMoreTime(t *testing.T) {
	const size = 1<<20 + 2
	half := make(chan struct{})
	_, address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.CopyN(io.Discard, r.Body, size/2); err != nil {
			t.Error(err)
		}
		close(half)
		n, err := io.Copy(io.Discard, r.Body)
		_, _ = fmt.Fprintf(w, "%d %v", n, err)
	}), func(s *api.Server) { s.Hasten(time.Second, 50*time.Millisecond, time.Minute) })
	conn, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	part := strings.Repeat("x", size/2)
	if _, err := fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", size, part); err != nil {
		t.Fatal(err)
	}
	<-half
	<-time.After(150 * time.Millisecond) // not a wait for something: the slowness itself
	if _, err := io.WriteString(conn, part); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); string(text) != fmt.Sprintf("%d <nil>", size/2) {
		t.Errorf("second half: got %q", text)
	}
}

// TestSlowHandlersAreNotCutOff: the limit on reading a request must not end
// the request's context once the request has been read.
func TestSlowHandlersAreNotCutOff(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.Everything)
	const readLimit = 50 * time.Millisecond
	b.records.list = func(ctx context.Context, _ url.Values, _ query.Projects) (query.List, error) {
		select {
		case <-ctx.Done():
			return query.List{}, ctx.Err()
		case <-time.After(5 * readLimit):
			return query.List{Page: 1, Limit: 25}, nil
		}
	}
	_, address := serve(t, b.handler, func(s *api.Server) { s.Hasten(time.Second, readLimit, time.Minute) })
	req, err := http.NewRequestWithContext(t.Context(), "GET", address+"/api/v1/admin/tools/logs/errors", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); resp.StatusCode != 200 || !strings.Contains(string(text), `"limit":25`) {
		t.Errorf("got %d %s", resp.StatusCode, text)
	}
}
