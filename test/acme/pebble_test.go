package acme

import (
	"bufio"
	"bytes"
	"crypto/x509"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/errata-log/errata/certs"
	"github.com/errata-log/errata/test/certtest"
)

// pebble is a running ACME server.
type pebble struct {
	Directory, Authority, Root string
}

// startPebble builds the command pebble and runs it until the test ends. It asks for
// proofs at the port, and its certificates are valid for so many seconds. The go command
// keeps what it has built before.
func startPebble(t *testing.T, port, seconds int) *pebble {
	t.Helper()
	program := filepath.Join(t.TempDir(), "pebble")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags=-s -w", "-buildvcs=false", "-o", program, ".")
	build.Dir = "pebble"
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build pebble: %v\n%s", err, out)
	}
	var log bytes.Buffer
	cmd := exec.Command(program, "-port", strconv.Itoa(port), "-seconds", strconv.Itoa(seconds))
	cmd.Stderr = &log
	life, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		life.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("pebble: %v", err)
		}
		if t.Failed() {
			t.Logf("pebble:\n%s", &log)
		}
	})
	p := &pebble{}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, p)
	}
	if err != nil {
		t.Fatalf("pebble is not ready: %v\n%s", err, &log)
	}
	return p
}

// options let the server issue certificates for the domains.
func (p *pebble) options(t *testing.T, domains ...string) certs.Options {
	t.Helper()
	ca := filepath.Join(t.TempDir(), "authority.pem")
	certtest.Write(t, ca, []byte(p.Authority))
	o := certs.Options{Domains: domains, Email: "ops@errata.example", Directory: p.Directory, CAFile: ca}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	return o
}

// roots trust what the server issues, and nothing else.
func (p *pebble) roots(t *testing.T) *x509.CertPool {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(p.Root)) {
		t.Fatal("pebble has told no root")
	}
	return pool
}
