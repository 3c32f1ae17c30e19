package acme

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/certs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is far above the time that an issue takes.
const patience = 60 * time.Second

// site is a server whose certificates an ACME server issues.
type site struct {
	*certs.Certificates
	addr    string
	changed chan struct{}
	log     *syncBuffer
}

// serve answers "yes" at the listener until the test ends.
func serve(t *testing.T, addr, folder string, o certs.Options) *site {
	t.Helper()
	s := &site{changed: make(chan struct{}, 100), log: &syncBuffer{warned: make(chan struct{}, 1)}}
	var err error
	if s.Certificates, err = certs.OpenACME(o, folder, certs.Config{
		Listener: "http", Every: 50 * time.Millisecond, Changed: func() { s.changed <- struct{}{} }, Logger: slog.New(slog.NewTextHandler(s.log, nil)),
	}); err != nil {
		t.Fatal(err)
	}
	server, err := api.NewServer(api.ServerConfig{Addr: addr, TLS: s.Server(), Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "yes")
	})})
	if err != nil {
		t.Fatal(err)
	}
	s.addr = server.Addr().String()
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	s.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		for _, err := range []error{s.Stop(ctx), server.Shutdown(ctx), <-served} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

// await waits until other certificates are shown.
func (s *site) await(t *testing.T) {
	t.Helper()
	select {
	case <-s.changed:
	case <-time.After(patience):
		t.Fatalf("no certificate; the log:\n%s", s.log)
	}
}

// ask asks by the name over a new connection, and returns the certificate that was shown.
func (s *site) ask(t *testing.T, roots *x509.CertPool, name string) (*x509.Certificate, error) {
	t.Helper()
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", s.addr)
		},
	}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport, Timeout: patience}).Get("https://" + name)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || string(text) != "yes" {
		t.Errorf("%s answered %q, %v", name, text, err)
	}
	return resp.TLS.PeerCertificates[0], nil
}

// freePort is a port of this machine that is free.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// TestIssuedAndRenewed: certificates are issued after a real proof at the address that
// they are for, and renewed before they end while every request is answered.
func TestIssuedAndRenewed(t *testing.T) {
	const seconds = 9 // renewed after six
	port := freePort(t)
	addr := (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}).String()
	p := startPebble(t, port, seconds)
	folder := filepath.Join(t.TempDir(), "acme")
	o := p.options(t, "errata.example", "errors.example")
	s := serve(t, addr, folder, o)
	s.await(t)
	first := map[string]*x509.Certificate{}
	for _, name := range o.Domains {
		var err error
		if first[name], err = s.ask(t, p.roots(t), name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if local, named := s.URLs(&net.TCPAddr{IP: net.IPv4zero, Port: port}); named != "https://errata.example" || !strings.HasPrefix(local, "https://127.0.0.1:") {
		t.Errorf("the URLs are %s and %s", local, named)
	}
	if check := s.Check(t.Context()); !check.OK || !strings.Contains(check.Detail, "errata.example") || !strings.Contains(check.Detail, "errors.example") {
		t.Errorf("the check says %+v", check)
	}
	private(t, folder)

	over, stop := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	asking.Go(func() {
		for over.Err() == nil {
			if _, err := s.ask(t, p.roots(t), "errata.example"); err != nil {
				t.Errorf("a request failed around the renewal: %v", err)
				return
			}
		}
	})
	for renewed := false; !renewed && !t.Failed(); {
		s.await(t)
		second, err := s.ask(t, p.roots(t), "errata.example")
		if err != nil {
			t.Error(err)
			break
		}
		renewed = !second.Equal(first["errata.example"])
	}
	stop()
	asking.Wait()
}

// private says that nobody else can read the keys.
func private(t *testing.T, folder string) {
	t.Helper()
	info, err := os.Stat(folder)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v, error %v, want 0700", info.Mode(), err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) < 3 { // the account and two certificates
		t.Errorf("%d files are kept, error %v", len(entries), err)
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, error %v, want 0600", entry.Name(), info.Mode(), err)
		}
	}
}

// TestKeptForTheNextStart: a restart needs no ACME server while its certificate is valid.
func TestKeptForTheNextStart(t *testing.T) {
	port := freePort(t)
	p := startPebble(t, port, 3600)
	folder := t.TempDir()
	o := p.options(t, "errata.example")
	s := serve(t, (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}).String(), folder, o)
	s.await(t)
	first, err := s.ask(t, p.roots(t), "errata.example")
	if err != nil {
		t.Fatal(err)
	}
	o.Directory = "https://127.0.0.1:1/dir" // where nobody answers
	again := serve(t, "127.0.0.1:0", folder, o)
	again.await(t)
	if second, err := again.ask(t, p.roots(t), "errata.example"); err != nil || !second.Equal(first) {
		t.Errorf("the next start shows another certificate, error %v", err)
	}
}

// TestProofThatFails: while no certificate can be issued, nobody is served, and the check
// says what the ACME server has seen. Names that work are served.
func TestProofThatFails(t *testing.T) {
	port := freePort(t)
	p := startPebble(t, port, 3600)
	s := serve(t, (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}).String(), t.TempDir(), p.options(t, "errata.elsewhere.example", "errata.example"))
	if _, err := s.ask(t, p.roots(t), "errata.example"); err == nil {
		t.Error("somebody was served before there was a certificate")
	}
	if check := s.Check(t.Context()); check.OK || check.Hint == "" {
		t.Errorf("the check says %+v", check)
	}
	s.await(t)
	if _, err := s.ask(t, p.roots(t), "errata.example"); err != nil {
		t.Errorf("the name that leads here: %v", err)
	}
	if _, err := s.ask(t, p.roots(t), "errata.elsewhere.example"); err == nil {
		t.Error("the name that leads elsewhere has a certificate")
	}
	select {
	case <-s.log.warned:
	case <-time.After(patience):
		t.Error("there is no warning")
	}
	for _, part := range []string{"errata.elsewhere.example: ", "Failed to connect to 127.0.0.2", "port 443"} {
		for _, text := range []string{s.log.String(), s.Check(t.Context()).Hint} {
			if !strings.Contains(text, part) {
				t.Errorf("log or check lack %q:\n%s", part, text)
			}
		}
	}
}

// syncBuffer is a log that is read while it is written.
type syncBuffer struct {
	mu     sync.Mutex
	text   bytes.Buffer
	warned chan struct{} // has one item since the first warning
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if bytes.Contains(p, []byte("level=WARN")) {
		select {
		case b.warned <- struct{}{}:
		default:
		}
	}
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
