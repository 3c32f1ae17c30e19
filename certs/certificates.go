package certs

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/crypto/acme"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/internal/background"
)

const (
	// lookEvery is how soon files that have changed are noticed.
	lookEvery = 10 * time.Second
	// endsSoon is when a warning comes: whatever renews certificates has had two weeks
	// by then, and there are two weeks left to mend it.
	endsSoon = 14 * 24 * time.Hour
	// tellAgain is the pause between two such warnings in the log.
	tellAgain = 24 * time.Hour
)

// Config is what [Certificates] need beside their source.
type Config struct {
	// Listener is "http", "nats" or "clickhouse", for metrics and log lines.
	Listener string
	// Shown is the path of a file that gets the certificates which are shown, "" for
	// none. See [LocalClient].
	Shown string
	// Every is how often the source is asked, 0 for the usual pause of it.
	Every time.Duration
	// Now is the clock, nil for the system's.
	Now func() time.Time
	// Changed is called after other certificates than before are shown, nil for none.
	Changed func()
	Logger  *slog.Logger
	// Registerer takes the metrics, nil for none.
	Registerer prometheus.Registerer
}

// Open opens the certificates that the options name, which are nil for a service without
// TLS. The caller calls Start once the listener takes connections, and Stop.
func Open(o Options, dir *datadir.Dir, cfg Config) (c *Certificates, err error) {
	cfg.Shown = dir.Join(datadir.ShownFile)
	switch {
	case len(o.Domains) > 0:
		c, err = OpenACME(o, dir.Join(datadir.ACMEDir), cfg)
	case o.CertFile != "":
		c, err = OpenFiles(Files{Prefix: "tls", Cert: o.CertFile, Key: o.KeyFile}, cfg)
	}
	if err != nil {
		return nil, err
	}
	return c, c.register()
}

// OpenNATS opens the certificate of the embedded NATS, or the one that it shows to its hub.
func OpenNATS(files Files, cfg Config) (*Certificates, error) { return openFor("nats", files, cfg) }

// OpenClickHouse opens the certificate of the address for analysts.
func OpenClickHouse(files Files, cfg Config) (*Certificates, error) {
	return openFor("clickhouse", files, cfg)
}

func openFor(listener string, files Files, cfg Config) (*Certificates, error) {
	cfg.Listener = listener
	c, err := OpenFiles(files, cfg)
	if err != nil {
		return nil, err
	}
	return c, c.register()
}

// register registers the metrics.
func (c *Certificates) register() error {
	if c == nil || c.cfg.Registerer == nil {
		return nil
	}
	if err := c.cfg.Registerer.Register(c); err != nil {
		return fmt.Errorf("register the metrics of certificates: %w", err)
	}
	return nil
}

func (c Config) withDefaults() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Changed == nil {
		c.Changed = func() {}
	}
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler)).With("listener", c.Listener)
	return c
}

// Certificates are those that a listener shows, or a client. They are safe for
// concurrent use. A nil *Certificates is a service without TLS.
type Certificates struct {
	cfg  Config
	host string // that clients find the service by, "" when its certificate tells it
	// ask looks for other certificates than before.
	ask  background.Loop
	work background.Runner
	// proof answers an ACME server that asks for a proof, nil without ACME.
	proof *tls.Config
	// end ends the requests to an ACME server, nil without ACME.
	end func()

	shown   atomic.Pointer[shown] // nil until there is a certificate
	refused atomic.Pointer[error] // why the newest one is not shown, nil when it is
	told    time.Time             // when the log was told that one ends soon
}

// shown is what the next handshake uses.
type shown struct {
	server *tls.Config
	certs  []tls.Certificate
}

// show lets the next handshake use the certificates. When there are clientCAs, clients
// must show a certificate of one of them.
func (c *Certificates) show(certs []tls.Certificate, clientCAs *x509.CertPool) {
	s := &shown{certs: certs, server: &tls.Config{Certificates: certs, MinVersion: tls.VersionTLS12, NextProtos: c.protocols()}}
	if clientCAs != nil {
		s.server.ClientAuth, s.server.ClientCAs = tls.RequireAndVerifyClientCert, clientCAs
		s.server.SessionTicketsDisabled = true // a ticket would outlive an authority that was taken away
	}
	c.shown.Store(s)
	for _, cert := range certs {
		c.cfg.Logger.Info("a certificate is in use", "for", namesOf(cert.Leaf), "until", cert.Leaf.NotAfter.UTC())
	}
	c.told = time.Time{}
	if c.cfg.Shown != "" {
		if err := datadir.WriteFile(c.cfg.Shown, leaves(certs)); err != nil {
			c.cfg.Logger.Warn("commands on this machine do not trust the certificate until the next start", "error", err)
		}
	}
	c.cfg.Changed()
}

func (c *Certificates) protocols() []string {
	if c.cfg.Listener == "http" {
		return []string{"h2", "http/1.1"}
	}
	return nil
}

// errNone is what a client is told while there is no certificate.
var errNone = errors.New("the service has no certificate yet; its log says why")

// Server is the configuration of a listener, nil without TLS.
func (c *Certificates) Server() *tls.Config {
	if c == nil {
		return nil
	}
	outer := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: c.protocols()}
	outer.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if c.proof != nil && slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}) {
			return c.proof, nil
		}
		if now := c.shown.Load(); now != nil {
			return now.server, nil
		}
		return nil, errNone
	}
	if now := c.shown.Load(); now != nil { // it tells clients beforehand what they need
		outer.ClientAuth, outer.ClientCAs = now.server.ClientAuth, now.server.ClientCAs
	}
	return outer
}

// Client is the configuration of a client that trusts the authorities, and shows the
// certificate if the server asks for one. It works for a nil c, which shows none.
func (c *Certificates) Client(authorities *x509.CertPool) *tls.Config {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: authorities}
	if c != nil {
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if now := c.shown.Load(); now != nil {
				return &now.certs[0], nil
			}
			return &tls.Certificate{}, nil
		}
	}
	return cfg
}

// Host is a host that clients can check the certificate for, "" when none is known.
func (c *Certificates) Host() string {
	switch {
	case c == nil:
		return ""
	case c.host != "":
		return c.host
	}
	return hostOf(c.shown.Load().certs[0].Leaf)
}

// URLs are those of an address that the service listens on: local for commands on this
// machine, which use [LocalClient], and named for people and applications. They differ
// where a certificate is for a name.
func (c *Certificates) URLs(listens net.Addr) (local, named string) {
	scheme, usual := "http", "80"
	if c != nil {
		scheme, usual = "https", "443"
	}
	local = scheme + "://" + datadir.LocalAddr(listens.String())
	host := c.Host()
	if host == "" {
		return local, local
	}
	named = scheme + "://" + host
	if strings.Contains(host, ":") {
		named = scheme + "://[" + host + "]"
	}
	// An ACME server asks at the usual port only, so that one leads here.
	if _, port, err := net.SplitHostPort(listens.String()); err == nil && port != usual && c.proof == nil {
		named += ":" + port
	}
	return local, named
}

// Start begins to look for other certificates.
func (c *Certificates) Start() {
	if c != nil {
		c.work.Start(c.ask.Run)
	}
}

// Stop ends that.
func (c *Certificates) Stop(ctx context.Context) error {
	if c == nil {
		return nil
	}
	if c.end != nil {
		c.end()
	}
	return c.work.Stop(ctx)
}

// refuse remembers why there is no newer certificate. isNew says that the log was not told
// yet.
func (c *Certificates) refuse(err error) (isNew bool) {
	before := c.refused.Swap(&err)
	return before == nil || (*before).Error() != err.Error()
}

// accept ends that.
func (c *Certificates) accept() { c.refused.Store(nil) }

// tellEnd warns once a day of a certificate that ends soon.
func (c *Certificates) tellEnd() {
	now := c.cfg.Now()
	if c.shown.Load() == nil || now.Sub(c.told) < tellAgain {
		return
	}
	for _, cert := range c.shown.Load().certs {
		if left := cert.Leaf.NotAfter.Sub(now); left < endsSoon {
			c.told = now
			c.cfg.Logger.Warn("a certificate ends soon", "for", namesOf(cert.Leaf), "ends", cert.Leaf.NotAfter.UTC(), "do", renewHint)
		}
	}
}

// transport is the default one with the authorities.
func transport(cfg *tls.Config) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = cfg
	return t
}
