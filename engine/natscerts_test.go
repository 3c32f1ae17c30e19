package engine_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/certs"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/test/certtest"
)

// secured is an embedded NATS with TLS, and the authorities around it.
type secured struct {
	*engine.NATS
	authority, clients *certtest.Authority
	files              certs.Files
	changed            chan struct{}
	log                chan string // what nats-server warns of
}

// openSecured opens NATS to applications and ingest nodes over TLS. With mutual, both need
// a certificate of the authority clients.
func openSecured(t *testing.T, mutual bool) *secured {
	t.Helper()
	s := &secured{authority: certtest.New(t), clients: certtest.New(t), changed: make(chan struct{}, 100), log: make(chan string, 1000)}
	cert, key := s.authority.Issue(t, certtest.Template("127.0.0.1")).Write(t)
	s.files = certs.Files{Prefix: "nats-tls", Cert: cert, Key: key}
	if mutual {
		s.files.ClientCA = s.clients.File(t)
	}
	shown, err := certs.OpenNATS(s.files, certs.Config{Every: time.Millisecond, Changed: func() { s.changed <- struct{}{} }})
	if err != nil {
		t.Fatal(err)
	}
	<-s.changed
	shown.Start()
	if s.NATS, err = engine.StartNATS(t.Context(), engine.NATSConfig{
		StoreDir: t.TempDir(), MaxStore: 64 << 20, Logger: slog.New(slog.NewTextHandler(logLines(s.log), &slog.HandlerOptions{Level: slog.LevelWarn})), TLS: shown.Server(),
		Clients: engine.NATSClients{Addr: "127.0.0.1:0", Password: appPassword, Publish: []string{"errors.v1.>"}},
		Leaves:  engine.NATSLeaves{Addr: "127.0.0.1:0", Password: leafPassword},
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := errors.Join(s.Stop(ctx), shown.Stop(ctx)); err != nil {
			t.Error(err)
		}
	})
	makeStream(t, s.JetStream(), "ERRORS", "errors.v1.>")
	return s
}

// logLines passes lines on, as far as there is room.
type logLines chan string

func (l logLines) Write(line []byte) (int, error) {
	select {
	case l <- string(line):
	default:
	}
	return len(line), nil
}

// dial connects as an application that trusts the authority.
func (s *secured) dial(t *testing.T, more ...nats.Option) (*nats.Conn, error) {
	t.Helper()
	conn, err := nats.Connect("tls://"+s.ClientsAddr().String(), append([]nats.Option{
		nats.UserInfo(engine.ClientUser, appPassword), nats.CustomInboxPrefix(engine.ClientInbox), nats.RootCAs(s.authority.File(t)),
	}, more...)...)
	if err == nil {
		t.Cleanup(conn.Close)
	}
	return conn, err
}

// publish sends one event.
func publish(t *testing.T, conn *nats.Conn) {
	t.Helper()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), appSubject, []byte("{}")); err != nil {
		t.Errorf("an event: %v", err)
	}
}

// shownTo is the certificate that a connection was shown.
func shownTo(t *testing.T, conn *nats.Conn) *x509.Certificate {
	t.Helper()
	state, err := conn.TLSConnectionState()
	if err != nil {
		t.Fatal(err)
	}
	return state.PeerCertificates[0]
}

// certificate is an option that shows a certificate of the authority.
func certificate(t *testing.T, of *certtest.Authority) nats.Option {
	t.Helper()
	cert, key := of.Issue(t, certtest.Template("shop")).Write(t)
	return nats.ClientCert(cert, key)
}

// TestApplicationsOverTLS: they publish over TLS only, and a new certificate in the files
// reaches the next connection, while those that are open go on.
func TestApplicationsOverTLS(t *testing.T) {
	s := openSecured(t, false)
	first, err := s.dial(t)
	if err != nil {
		t.Fatal(err)
	}
	publish(t, first)
	if _, err := s.dial(t, nats.RootCAs(certtest.New(t).File(t))); err == nil {
		t.Error("an application that trusts another authority has connected")
	}
	if _, err := nats.Connect(s.ClientsAddr().String(), nats.UserInfo(engine.ClientUser, appPassword)); err == nil {
		t.Error("an application that does not know the authority has connected")
	}
	old := &tls.Config{RootCAs: s.authority.Pool(), MaxVersion: tls.VersionTLS11}
	if _, err := s.dial(t, nats.Secure(old)); err == nil {
		t.Error("an application with TLS 1.1 has connected")
	}
	if _, err := s.dial(t, nats.UserInfo(engine.ClientUser, "guessed")); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("with a wrong password: %v", err)
	}
	s.authority.Issue(t, certtest.Template("127.0.0.1")).Replace(t, s.files.Cert, s.files.Key)
	<-s.changed
	second, err := s.dial(t)
	if err != nil {
		t.Fatal(err)
	}
	publish(t, second)
	publish(t, first)
	if shownTo(t, first).Equal(shownTo(t, second)) {
		t.Error("the next connection was shown the old certificate")
	}
}

// TestApplicationsShowCertificates: without one of the authority nobody connects, and an
// authority that is replaced counts no longer.
func TestApplicationsShowCertificates(t *testing.T) {
	s := openSecured(t, true)
	if _, err := s.dial(t); err == nil {
		t.Error("an application without a certificate has connected")
	}
	if _, err := s.dial(t, certificate(t, certtest.New(t))); err == nil {
		t.Error("an application with a certificate of another authority has connected")
	}
	mine := certificate(t, s.clients)
	conn, err := s.dial(t, mine)
	if err != nil {
		t.Fatal(err)
	}
	publish(t, conn)
	if _, err := s.dial(t, mine, nats.UserInfo(engine.ClientUser, "guessed")); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("with a certificate and a wrong password: %v", err)
	}
	next := certtest.New(t)
	certtest.Write(t, s.files.ClientCA, next.PEM())
	<-s.changed
	if _, err := s.dial(t, mine); err == nil {
		t.Error("a certificate of the authority before still works")
	}
	if _, err := s.dial(t, certificate(t, next)); err != nil {
		t.Errorf("a certificate of the new authority: %v", err)
	}
	publish(t, conn)
}

// TestLeavesOverTLS: an ingest node joins with a certificate that the hub trusts, and only
// a hub that it trusts.
func TestLeavesOverTLS(t *testing.T) {
	s := openSecured(t, true)
	join := func(id string, trusts *certtest.Authority, shows *certtest.Authority) *engine.NATS {
		var mine *certs.Certificates
		if shows != nil {
			cert, key := shows.Issue(t, certtest.Template()).Write(t)
			var err error
			if mine, err = certs.OpenNATS(certs.Files{Prefix: "nats-tls", Cert: cert, Key: key, Client: true}, certs.Config{}); err != nil {
				t.Fatal(err)
			}
		}
		u := url.URL{Scheme: "tls", User: url.UserPassword(engine.LeafUser, leafPassword), Host: s.LeavesAddr()}
		n, err := engine.StartNATS(t.Context(), engine.NATSConfig{
			StoreDir: t.TempDir(), MaxStore: 64 << 20, Logger: quiet, Hub: engine.NATSHub{URL: u.String(), ID: id, TLS: mine.Client(trusts.Pool())},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.Stop(context.WithoutCancel(t.Context())) })
		return n
	}
	for _, c := range []struct {
		id            string
		trusts, shows *certtest.Authority
		says          string // in the hub's log
	}{
		{"bare", s.authority, nil, "certificate"},
		{"stranger", s.authority, certtest.New(t), "unknown authority"},
		{"careful", certtest.New(t), s.clients, "bad certificate"},
	} {
		n := join(c.id, c.trusts, c.shows)
		s.awaitLog(t, c.says)
		if n.Joined() {
			t.Errorf("the node %q has joined", c.id)
		}
		if err := n.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	node := join("a1", s.authority, s.clients)
	awaitLeaves(t, s.NATS, 1)
	awaitJoined(t, node)
}

// awaitLog waits for a warning of a handshake.
func (s *secured) awaitLog(t *testing.T, text string) {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		select {
		case line := <-s.log:
			if strings.Contains(line, "TLS") && strings.Contains(line, text) {
				return
			}
		case <-late:
			t.Fatalf("the hub has not logged a handshake with %q", text)
		}
	}
}
