package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"go.uber.org/goleak"

	"github.com/errata-log/errata/test/certtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a certificate in files, and a server that shows it.
type bench struct {
	*Certificates
	authority *certtest.Authority
	cert, key string
	now       time.Time
	log       bytes.Buffer
	changed   chan struct{}
}

// open opens files with a certificate for 127.0.0.1.
func open(t *testing.T, hosts ...string) *bench {
	t.Helper()
	b := &bench{authority: certtest.New(t), now: time.Now(), changed: make(chan struct{}, 100)}
	b.cert, b.key = b.authority.Issue(t, certtest.Template(append(hosts, "127.0.0.1")...)).Write(t)
	var err error
	if b.Certificates, err = OpenFiles(Files{Prefix: "tls", Cert: b.cert, Key: b.key}, Config{
		Listener: "http", Shown: b.cert + ".shown", Every: time.Millisecond, Now: func() time.Time { return b.now },
		Changed: func() { b.changed <- struct{}{} }, Logger: slog.New(slog.NewTextHandler(&b.log, nil)),
	}); err != nil {
		t.Fatal(err)
	}
	<-b.changed
	return b
}

// look is one look at the files.
func (b *bench) look(t *testing.T) {
	t.Helper()
	if err := b.ask.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// serve answers "yes" over TLS.
func serve(t *testing.T, c *Certificates) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "yes, over "+r.Proto)
	}))
	s.Config.TLSConfig = c.Server()
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = s.Config.ServeTLS(s.Listener, "", "")
	}()
	t.Cleanup(func() {
		_ = s.Config.Close()
		<-served
	})
	return s
}

// ask asks over a new connection, and returns the certificate that was shown.
func ask(t *testing.T, s *httptest.Server, transport *http.Transport) (answer string, shown *x509.Certificate, err error) {
	t.Helper()
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport, Timeout: 10 * time.Second}).Get("https://" + s.Listener.Addr().String())
	if err != nil {
		return "", nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), resp.TLS.PeerCertificates[0], err
}

// trusts is a transport that trusts the authority.
func trusts(a *certtest.Authority) *http.Transport {
	return transport((*Certificates)(nil).Client(a.Pool()))
}

func TestFilesAreServed(t *testing.T) {
	b := open(t)
	s := serve(t, b.Certificates)
	if answer, _, err := ask(t, s, trusts(b.authority)); err != nil || answer != "yes, over HTTP/2.0" {
		t.Errorf("got %q, %v, want an answer over HTTP/2", answer, err)
	}
	if _, _, err := ask(t, s, trusts(certtest.New(t))); err == nil {
		t.Error("a client that trusts another authority was answered")
	}
	conn, err := tls.Dial("tcp", s.Listener.Addr().String(), &tls.Config{RootCAs: b.authority.Pool(), MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11})
	if err == nil {
		conn.Close()
		t.Error("a client of TLS 1.1 was let in")
	}
	old := trusts(b.authority)
	old.TLSClientConfig.MaxVersion = tls.VersionTLS12
	if _, _, err := ask(t, s, old); err != nil {
		t.Errorf("a client of TLS 1.2: %v", err)
	}
}

// TestReplacedUnderTraffic replaces the pair again and again while clients connect: every
// request is answered, and every one of the pairs is shown.
func TestReplacedUnderTraffic(t *testing.T) {
	const pairs, senders = 8, 4
	b := open(t)
	s := serve(t, b.Certificates)
	b.Start()
	defer func() {
		if err := b.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	var asking sync.WaitGroup
	over, stop := context.WithCancel(t.Context())
	defer stop()
	for range senders {
		asking.Go(func() {
			for over.Err() == nil {
				if answer, _, err := ask(t, s, trusts(b.authority)); err != nil || !strings.HasPrefix(answer, "yes") {
					t.Errorf("a request failed while a pair was replaced: %q, %v", answer, err)
					return
				}
			}
		})
	}
	for range pairs {
		next := b.authority.Issue(t, certtest.Template("127.0.0.1"))
		next.Replace(t, b.cert, b.key)
		<-b.changed // fails by the time limit of the test when the pair is not taken
		_, shown, err := ask(t, s, trusts(b.authority))
		if err != nil {
			t.Fatal(err)
		}
		if want, _ := firstCertificate(next.Cert); !shown.Equal(want) {
			t.Errorf("the certificate %x is shown, want %x", shown.SerialNumber, want.SerialNumber)
		}
	}
	stop()
	asking.Wait()
}

func TestBadPairKeepsTheOldOne(t *testing.T) {
	b := open(t)
	s := serve(t, b.Certificates)
	_, first, err := ask(t, s, trusts(b.authority))
	if err != nil {
		t.Fatal(err)
	}
	good := b.authority.Issue(t, certtest.Template("127.0.0.1"))
	ended := certtest.Template("127.0.0.1")
	ended.NotAfter = time.Now().Add(-time.Minute)
	for name, bad := range map[string]struct {
		pair certtest.Pair
		says string
	}{
		"key of another":  {certtest.Pair{Cert: good.Cert, Key: b.authority.Issue(t, certtest.Template("x")).Key}, "does not fit"},
		"half a file":     {certtest.Pair{Cert: good.Cert[:100], Key: good.Key}, "no certificate"},
		"an expired one":  {b.authority.Issue(t, ended), "has expired"},
		"an empty folder": {certtest.Pair{}, "no certificate"},
	} {
		b.log.Reset()
		bad.pair.Replace(t, b.cert, b.key)
		b.look(t)
		b.look(t)
		_, shown, err := ask(t, s, trusts(b.authority))
		if err != nil || !shown.Equal(first) {
			t.Errorf("%s: the first certificate is not shown any more, error %v", name, err)
		}
		if n := strings.Count(b.log.String(), "level=WARN"); n != 1 || !strings.Contains(b.log.String(), bad.says) {
			t.Errorf("%s: %d warnings, want one with %q:\n%s", name, n, bad.says, &b.log)
		}
		if check := b.Check(t.Context()); !check.OK || !strings.Contains(check.Hint, bad.says) {
			t.Errorf("%s: the check says %+v", name, check)
		}
		if got := metric(t, b.Certificates, "errata_tls_certificate_refused"); got != 1 {
			t.Errorf("%s: errata_tls_certificate_refused is %v, want 1", name, got)
		}
	}
	if err := os.Remove(b.cert); err != nil {
		t.Fatal(err)
	}
	b.look(t)
	if check := b.Check(t.Context()); !strings.Contains(check.Hint, "no such file") {
		t.Errorf("a file that is gone: the check says %+v", check)
	}
	good.Replace(t, b.cert, b.key)
	b.look(t)
	want, _ := firstCertificate(good.Cert)
	if _, shown, err := ask(t, s, trusts(b.authority)); err != nil || !shown.Equal(want) {
		t.Errorf("the good pair is not shown, error %v", err)
	}
	if check := b.Check(t.Context()); !check.OK || check.Hint != "" {
		t.Errorf("the check says %+v after a good pair", check)
	}
	if got := metric(t, b.Certificates, "errata_tls_certificate_refused"); got != 0 {
		t.Errorf("errata_tls_certificate_refused is %v, want 0", got)
	}
}

func TestWarnsBeforeTheEnd(t *testing.T) {
	const day = 24 * time.Hour
	b := open(t, "errata.example.com")
	end := b.shown.Load().certs[0].Leaf.NotAfter
	for _, c := range []struct {
		left     time.Duration
		ok, warn bool
		lines    int
	}{
		{20 * day, true, false, 0},
		{13 * day, true, true, 1},
		{13*day - time.Hour, true, true, 0}, // told today already
		{11 * day, true, true, 1},
		{-time.Minute, false, true, 1},
	} {
		b.now = end.Add(-c.left)
		b.log.Reset()
		b.look(t)
		check := b.Check(t.Context())
		if check.OK != c.ok || (check.Hint != "") != c.warn || !strings.Contains(check.Detail, "errata.example.com") {
			t.Errorf("%v before the end the check says %+v", c.left, check)
		}
		if n := strings.Count(b.log.String(), "ends soon"); n != c.lines {
			t.Errorf("%v before the end: %d warnings, want %d", c.left, n, c.lines)
		}
		if got := metric(t, b.Certificates, "errata_tls_certificate_expires_seconds"); got != c.left.Seconds() {
			t.Errorf("%v before the end: errata_tls_certificate_expires_seconds is %v", c.left, got)
		}
	}
}

// metric is the value of the only metric of the name.
func metric(t *testing.T, c *Certificates, name string) float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			return one(t, family.GetMetric()).GetGauge().GetValue()
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

func one(t *testing.T, all []*dto.Metric) *dto.Metric {
	t.Helper()
	if len(all) != 1 {
		t.Fatalf("%d metrics, want one", len(all))
	}
	return all[0]
}

// TestLocalClient: a command on this machine reaches a service whose certificate is for
// another name and of an authority that the machine does not know.
func TestLocalClient(t *testing.T) {
	for name, b := range map[string]*bench{"name": open(t, "errata.example.com"), "all names": open(t, "*.example.com"), "address": open(t)} {
		s := serve(t, b.Certificates)
		local, err := Transport("")
		if err != nil {
			t.Fatal(err)
		}
		var unknown x509.UnknownAuthorityError
		if _, _, err := ask(t, s, local); !errors.As(err, &unknown) {
			t.Errorf("%s: without the file: %v, want an unknown authority", name, err)
		}
		if err := LocalClient(local, b.cert+".shown"); err != nil {
			t.Fatal(err)
		}
		if answer, _, err := ask(t, s, local); err != nil || !strings.HasPrefix(answer, "yes") {
			t.Errorf("%s: got %q, %v", name, answer, err)
		}
		if _, _, err := ask(t, serve(t, open(t, "errata.example.com").Certificates), local); err == nil {
			t.Errorf("%s: another service with a certificate of its own was believed", name)
		}
	}
	// With the authority in a file, as for a service elsewhere.
	b := open(t)
	elsewhere, err := Transport(b.authority.File(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := ask(t, serve(t, b.Certificates), elsewhere); err != nil {
		t.Error(err)
	}
}
