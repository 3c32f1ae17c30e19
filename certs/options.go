package certs

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"golang.org/x/crypto/acme/autocert"
	"golang.org/x/net/idna"

	"github.com/errata-log/errata/datadir"
)

// Options is what an operator can choose about TLS. The zero Options serve without TLS.
type Options struct {
	// CertFile and KeyFile are the certificate with its chain, and its key, in PEM.
	CertFile, KeyFile string
	// Domains are names for which an ACME server issues certificates, instead of files.
	Domains []string
	// Email is told by the ACME server about problems, "" for nobody. Directory is the
	// URL of the ACME server.
	Email, Directory string
	// CAFile has certificate authorities, in PEM, that are trusted beside those of the
	// system, "" for none.
	CAFile string
}

// DefaultDirectory is the ACME server of Let's Encrypt.
const DefaultDirectory = autocert.DefaultACMEDirectory

// On says whether the service serves with TLS.
func (o Options) On() bool { return o.CertFile != "" || len(o.Domains) > 0 }

// Scheme is the scheme of the service's URLs.
func (o Options) Scheme() string {
	if o.On() {
		return "https"
	}
	return "http"
}

// Validate names the first setting that cannot be used, alone or with another one. It
// reads no file.
func (o Options) Validate() error {
	if err := bothFiles("tls", o.CertFile, o.KeyFile); err != nil {
		return err
	}
	for _, c := range []struct {
		wrong bool
		why   string
	}{
		{o.CertFile != "" && len(o.Domains) > 0, "tls-acme-domains: tls-cert names a certificate already; leave one of them empty"},
		{o.Email != "" && len(o.Domains) == 0, "tls-acme-email: without tls-acme-domains there is no ACME server to tell it to"},
	} {
		if c.wrong {
			return errors.New(c.why)
		}
	}
	for _, domain := range o.Domains {
		if err := checkDomain(domain); err != nil {
			return fmt.Errorf("tls-acme-domains: %w", err)
		}
	}
	if len(o.Domains) > 0 {
		if err := datadir.CheckURL(o.Directory, "https"); err != nil || o.Directory == "" {
			return errors.Join(errors.New("tls-acme-directory: want the https URL of the directory of an ACME server"), err)
		}
	}
	return nil
}

// bothFiles says whether a certificate and its key are named together.
func bothFiles(prefix, cert, key string) error {
	switch {
	case cert != "" && key == "":
		return fmt.Errorf("%s-key: %[1]s-cert names a certificate; name the file with its key too", prefix)
	case cert == "" && key != "":
		return fmt.Errorf("%s-cert: %[1]s-key names a key; name the file with its certificate too", prefix)
	}
	return nil
}

// checkDomain says why no certificate can be issued for the domain.
func checkDomain(domain string) error {
	ascii, err := idna.Lookup.ToASCII(domain)
	_, notAddr := netip.ParseAddr(domain)
	switch {
	case strings.HasPrefix(domain, "*."):
		return fmt.Errorf("%q: the proof over TLS (tls-alpn-01) is for single names; list them, or get a certificate for all names elsewhere and name its files in tls-cert and tls-key", domain)
	case err != nil || notAddr == nil || strings.Contains(domain, ":") || !strings.Contains(strings.Trim(ascii, "."), "."):
		return fmt.Errorf("%q is not a domain name such as errata.example.com", domain)
	}
	return nil
}
