package certs

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
	"golang.org/x/net/idna"

	"github.com/errata-log/errata/internal/background"
)

// issuePauses are the pauses after a failure. Let's Encrypt refuses more than five failed
// proofs of a name in an hour.
var issuePauses = background.Pauses{First: 3 * time.Minute, Most: time.Hour}

// takeEvery is how soon a certificate that was renewed is shown.
const takeEvery = time.Minute

// proofHint says what to do when no certificate is issued.
const proofHint = "see that this machine reaches tls-acme-directory, that DNS leads each of tls-acme-domains here, that port 443 from outside reaches this service, and that nothing before it ends TLS"

// OpenACME lets an ACME server issue the certificates of the domains, and renews them in
// time, from Start on. It proves that the domains lead here by tls-alpn-01, at the
// listener that uses [Certificates.Server]. Account and certificates are kept in the
// folder, for the next start.
func OpenACME(o Options, folder string, cfg Config) (*Certificates, error) {
	pool, err := Pool(o.CAFile)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of ACME: %w", err)
	}
	domains := make([]string, len(o.Domains))
	for i, domain := range o.Domains {
		if domains[i], err = idna.Lookup.ToASCII(strings.TrimSuffix(domain, ".")); err != nil {
			return nil, fmt.Errorf("tls-acme-domains: %q: %w", domain, err)
		}
	}
	said := &problems{next: transport((*Certificates)(nil).Client(pool))}
	c := &Certificates{cfg: cfg.withDefaults(), host: domains[0], end: said.end}
	manager := &autocert.Manager{
		Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(folder), HostPolicy: autocert.HostWhitelist(domains...),
		Email: o.Email, Client: &acme.Client{DirectoryURL: o.Directory, HTTPClient: &http.Client{Transport: said}, UserAgent: "errata"},
	}
	c.proof = &tls.Config{GetCertificate: manager.GetCertificate, NextProtos: []string{acme.ALPNProto}, MinVersion: tls.VersionTLS12}
	c.ask = background.Loop{Every: cmp.Or(cfg.Every, takeEvery), Pauses: issuePauses, Do: func(ctx context.Context) error {
		c.tellEnd()
		return c.take(ctx, manager, domains, said)
	}, Failed: func(err error, _ int) {
		if c.refuse(fmt.Errorf("%w; %s", err, proofHint)) {
			c.cfg.Logger.Warn("no certificate could be issued; it is tried again", "error", err, "do", proofHint)
		}
	}}
	return c, nil
}

// take shows what the manager has for the domains. It waits for certificates that are
// missing to be issued.
func (c *Certificates) take(ctx context.Context, manager *autocert.Manager, domains []string, said *problems) error {
	var certs []tls.Certificate
	var failed []error
	for _, domain := range domains {
		said.last.Store(nil)
		cert, err := get(ctx, manager, domain)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", domain, said.explain(err)))
			continue
		}
		certs = append(certs, *cert)
	}
	if len(certs) > 0 && !c.shows(certs) {
		c.show(certs, nil)
	}
	if len(failed) == 0 {
		c.accept()
	}
	return errors.Join(failed...)
}

// get is the manager's certificate for the domain. The manager takes no context: after
// [Certificates.Stop] the next request to the ACME server fails, and with it the goroutine.
func get(ctx context.Context, manager *autocert.Manager, domain string) (*tls.Certificate, error) {
	type answer struct {
		cert *tls.Certificate
		err  error
	}
	got := make(chan answer, 1) // nobody takes it after the end of ctx
	go func() {
		cert, err := manager.GetCertificate(modernClient(domain))
		got <- answer{cert, err}
	}()
	select {
	case a := <-got:
		return a.cert, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// shows says whether these certificates are shown already.
func (c *Certificates) shows(certs []tls.Certificate) bool {
	now := c.shown.Load()
	if now == nil || len(now.certs) != len(certs) {
		return false
	}
	for i := range certs {
		if !now.certs[i].Leaf.Equal(certs[i].Leaf) {
			return false
		}
	}
	return true
}

// modernClient is the hello of a client that takes ECDSA, as all do that speak TLS 1.2. For
// others the manager would have a second certificate issued.
func modernClient(domain string) *tls.ClientHelloInfo {
	return &tls.ClientHelloInfo{
		ServerName: domain, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
		SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256}, SupportedCurves: []tls.CurveID{tls.CurveP256},
	}
}

// problems reads what an ACME server says is wrong, because the manager only tells that no
// proof has worked.
type problems struct {
	next  *http.Transport
	last  atomic.Pointer[string]
	ended atomic.Bool
}

// end lets all further requests fail, and closes the connections.
func (p *problems) end() {
	p.ended.Store(true)
	p.next.CloseIdleConnections()
}

var errEnded = errors.New("the service stops")

// maxProblem bounds what is read of an answer, in bytes; a chain takes some thousand.
const maxProblem = 64 << 10

// RoundTrip passes the request on, and reads the answer.
func (p *problems) RoundTrip(req *http.Request) (*http.Response, error) {
	if p.ended.Load() {
		return nil, errEnded
	}
	resp, err := p.next.RoundTrip(req)
	if err != nil || !strings.Contains(resp.Header.Get("Content-Type"), "json") {
		return resp, err
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	if err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), resp.Body), resp.Body}
	p.read(text)
	return resp, nil
}

// badNonce is the type of a problem that a second request solves.
const badNonce = "urn:ietf:params:acme:error:badNonce"

// read remembers the problem in an answer. Why a proof has failed says more than what comes
// of it later.
func (p *problems) read(answer []byte) {
	var said struct {
		Type, Detail string
		Challenges   []struct{ Error struct{ Detail string } }
	}
	_ = json.Unmarshal(answer, &said) // of other JSON nothing is known
	for _, challenge := range said.Challenges {
		if detail := challenge.Error.Detail; detail != "" {
			p.last.Store(&detail)
		}
	}
	if said.Detail != "" && said.Type != badNonce {
		p.last.CompareAndSwap(nil, &said.Detail)
	}
}

// explain adds to an error what the ACME server has said.
func (p *problems) explain(err error) error {
	said := p.last.Load()
	if said == nil || strings.Contains(err.Error(), *said) {
		return err
	}
	return fmt.Errorf("%w: the ACME server says: %s", err, *said)
}
