package app_test

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/certs"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/test/certtest"
)

// overTLS gives a service a certificate, and the tests' client its authority.
func overTLS(t *testing.T, o *app.Options, hosts ...string) *certtest.Authority {
	t.Helper()
	authority := certtest.New(t)
	o.TLS.CertFile, o.TLS.KeyFile = authority.Issue(t, certtest.Template(append(hosts, "127.0.0.1")...)).Write(t)
	transport, err := certs.Transport(authority.File(t))
	if err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.Transport = transport
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		http.DefaultClient.Transport = nil
	})
	return authority
}

// TestOverTLS: both addresses speak HTTPS with HTTP/2, and the streams of changes too.
func TestOverTLS(t *testing.T) {
	o := testOptions(t)
	o.OTLPListen = "127.0.0.1:0"
	overTLS(t, &o)
	a := build(t, o)
	stop := run(t, a)
	url := a.Welcome().URL
	if url != "https://"+a.Addr().String() {
		t.Errorf("the service is at %s, want https at %s", url, a.Addr())
	}
	if !strings.HasPrefix(a.Welcome().DSN, "https://") || !strings.HasSuffix(key(t, filepath.Join(o.Data, datadir.DSNFile)), a.Addr().String()+"/1") {
		t.Errorf("the DSN is %s", a.Welcome().DSN)
	}
	stream := changes(t, url, key(t, a.Welcome().AdminKeyFile))
	ingestKey := key(t, a.Welcome().IngestKeyFile)
	if status, body := request(t, http.MethodPost, url+"/api/v1/events", ingestKey, `{"message":"over TLS","exception_class":"E"}`); status != http.StatusAccepted {
		t.Fatalf("event: %d %s", status, body)
	}
	if status, body := request(t, http.MethodPost, "https://"+a.OTLPAddr().String()+"/v1/logs", ingestKey, oneLog); status != http.StatusOK {
		t.Errorf("OTLP: %d %s", status, body)
	}
	awaitRecords(t, a, func(rows []row) bool { return len(rows) == 2 })
	for line := range stream {
		if strings.Contains(line, "over TLS") {
			break
		}
	}
	if status, body := get(t, url+"/api/v1/admin/ops/status", key(t, a.Welcome().AdminKeyFile)); status != http.StatusOK || !strings.Contains(body, `"name":"certificate","ok":true,"detail":"for 127.0.0.1, until `) {
		t.Errorf("status: %d %s", status, body)
	}
	if _, body := get(t, url+"/metrics", ""); !strings.Contains(body, `errata_tls_certificate_expires_seconds{listener="http",name="127.0.0.1"} 2.5`) {
		t.Errorf("metrics have no certificate that ends in a month:\n%s", body)
	}
	if status, body := get(t, "http://"+a.Addr().String()+"/healthz", ""); status != http.StatusBadRequest || !strings.Contains(body, "HTTPS") {
		t.Errorf("without TLS: %d %s", status, body)
	}
	if err := stop(); err != nil {
		t.Errorf("run: %v", err)
	}
}

// changes opens the stream of changes over HTTP/2 and returns its lines.
func changes(t *testing.T, url, key string) <-chan string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/api/v1/admin/tools/logs/errors/stream", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 {
		t.Fatalf("stream: %v, %v, want 200 over HTTP/2", resp, err)
	}
	lines := make(chan string, 1000)
	go func() { // ends with the stream
		defer close(lines)
		defer resp.Body.Close()
		scanner := bufio.NewScanner(resp.Body)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
	}()
	return lines
}

// TestNamedByTheCertificate: what is printed for applications names a host that the
// certificate is for, and the commands of this machine find the service nevertheless.
func TestNamedByTheCertificate(t *testing.T) {
	o := testOptions(t)
	overTLS(t, &o, "errata.example.com")
	a := build(t, o)
	_, port, _ := net.SplitHostPort(a.Addr().String())
	named := "errata.example.com:" + port
	if w := a.Welcome(); w.URL != "https://"+named || !strings.HasSuffix(w.DSN, "@"+named+"/1") || w.NotReachable {
		t.Errorf("got %+v, want %s", w, named)
	}
	holder, err := datadir.HolderOf(o.Data)
	if err != nil || holder.URL != "https://"+a.Addr().String() {
		t.Errorf("commands look at %s, error %v, want %s", holder.URL, err, a.Addr())
	}
}

// TestBadCertificateEndsTheStart before anything else is started.
func TestBadCertificateEndsTheStart(t *testing.T) {
	o := testOptions(t)
	overTLS(t, &o)
	o.TLS.KeyFile = o.TLS.CertFile
	_, err := app.New(context.Background(), o)
	if err == nil || !strings.HasPrefix(err.Error(), "tls-key: ") {
		t.Errorf("got %v, want an error about tls-key", err)
	}
	o.TLS.Domains = []string{"errata.example.com"}
	if err := o.Validate(); err == nil || !strings.HasPrefix(err.Error(), "tls-acme-domains: ") {
		t.Errorf("got %v, want an error about tls-acme-domains", err)
	}
}
