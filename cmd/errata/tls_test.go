package main

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/errata-log/errata/test/certtest"
)

// TestCommandsOverTLS: the commands of this machine verify the certificate of the service
// without any setting, whatever name it is for, and those elsewhere with tls-ca.
func TestCommandsOverTLS(t *testing.T) {
	authority := certtest.New(t)
	ca := authority.File(t)
	cert, key := authority.Issue(t, certtest.Template("errata.example.com", "127.0.0.1")).Write(t)
	data := filepath.Join(t.TempDir(), "data")
	s := serveProcess(t, data, "ERRATA_TLS_CERT="+cert, "ERRATA_TLS_KEY="+key)
	at, err := url.Parse(s.url)
	if err != nil || at.Scheme != "https" || at.Hostname() != "errata.example.com" || !strings.Contains(s.banner, "@"+at.Host+"/1") {
		t.Errorf("the banner shows %s, %v:\n%s", s.url, err, s.banner)
	}
	for _, args := range [][]string{{"healthcheck"}, {"keys", "list"}, {"errors", "list"}} {
		if got := command(t, nil, append(args, "--data", data)...); got.code != exitOK {
			t.Errorf("%v: %+v", args, got)
		}
	}
	_, found := doctor(t, []string{"ERRATA_TLS_CERT=" + cert, "ERRATA_TLS_KEY=" + key}, "--data", data)
	if f := found["service"]; f.State != stateOK || !strings.Contains(f.Detail, "https://127.0.0.1:"+at.Port()) {
		t.Errorf("doctor: service: %+v", f)
	}
	if f := found["certificate"]; f.State != stateOK || !strings.Contains(f.Detail, "for errata.example.com, 127.0.0.1, until ") {
		t.Errorf("doctor: certificate: %+v", f)
	}
	elsewhere := "https://127.0.0.1:" + at.Port()
	if got := command(t, nil, "healthcheck", "--url", elsewhere); got.code != exitFailed || !strings.Contains(got.err, "unknown authority") || !strings.Contains(got.err, "tls-ca") {
		t.Errorf("without the authority: %+v, want a failure that names tls-ca", got)
	}
	for name, got := range map[string]outcome{
		"flag":     command(t, nil, "healthcheck", "--url", elsewhere, "--tls-ca", ca),
		"variable": command(t, []string{"ERRATA_URL=" + elsewhere, "ERRATA_TLS_CA=" + ca}, "healthcheck"),
	} {
		if got.code != exitOK {
			t.Errorf("with the authority in the %s: %+v", name, got)
		}
	}
	if got := command(t, nil, "healthcheck", "--url", "https://localhost:"+at.Port(), "--tls-ca", ca); got.code != exitFailed || !strings.Contains(got.err, "not localhost") {
		t.Errorf("by a name that the certificate is not for: %+v", got)
	}
	if got := command(t, nil, "healthcheck", "--url", elsewhere, "--tls-ca", key); got.code != exitFailed || !strings.Contains(got.err, "tls-ca: ") {
		t.Errorf("with a file that holds no authority: %+v", got)
	}
	s.stop(t)
	if s := s.log.String(); strings.Contains(s, "level=WARN") || !strings.Contains(s, "a certificate is in use") {
		t.Errorf("the log:\n%s", s)
	}
}
