package certs

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// Files name a certificate, and what is checked with it.
type Files struct {
	// Prefix begins the names of the settings: "tls" for tls-cert and tls-key.
	Prefix string
	// Cert is the certificate with its chain, and Key its key, in PEM.
	Cert, Key string
	// ClientCA are the authorities, in PEM, of the certificates that clients must show,
	// "" when they need none.
	ClientCA string
	// Client says that the certificate is shown to a server.
	Client bool
}

// Validate names the first setting that cannot be used. It reads no file.
func (f Files) Validate() error {
	if err := bothFiles(f.Prefix, f.Cert, f.Key); err != nil {
		return err
	}
	if f.ClientCA != "" && f.Cert == "" {
		return fmt.Errorf("%s-client-ca: clients show certificates only over TLS; set %[1]s-cert and %[1]s-key too", f.Prefix)
	}
	return nil
}

// contents are the bytes of Files.
type contents struct{ cert, key, clientCA []byte }

func (c contents) equal(other contents) bool {
	return bytes.Equal(c.cert, other.cert) && bytes.Equal(c.key, other.key) && bytes.Equal(c.clientCA, other.clientCA)
}

func (f Files) read() (c contents, err error) {
	if c.cert, err = os.ReadFile(f.Cert); err != nil {
		return c, fmt.Errorf("%s-cert: %w; name the file with the certificate and its chain in PEM, and let this user read it", f.Prefix, err)
	}
	if c.key, err = os.ReadFile(f.Key); err != nil {
		return c, fmt.Errorf("%s-key: %w; name the file with the key of %s, and let this user read it", f.Prefix, err, f.Cert)
	}
	if f.ClientCA != "" {
		if c.clientCA, err = os.ReadFile(f.ClientCA); err != nil {
			return c, fmt.Errorf("%s-client-ca: %w; name the file with the authorities of your clients in PEM", f.Prefix, err)
		}
	}
	return c, nil
}

// parse makes a certificate of the contents, and a pool of the authorities of clients,
// which is nil when clients need no certificate. The error says what to do.
func (f Files) parse(c contents, now time.Time) (_ tls.Certificate, clientCAs *x509.CertPool, err error) {
	leaf, err := firstCertificate(c.cert)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("%s-cert: %s: %w; it must begin with the certificate of this service in PEM, and its chain follows", f.Prefix, f.Cert, err)
	}
	pair, err := tls.X509KeyPair(c.cert, c.key)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("%s-key: %s does not fit %s: %w; give the key that the certificate was made for, in PEM and without a password",
			f.Prefix, f.Key, f.Cert, err)
	}
	if err := f.check(leaf, now); err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("%s-cert: %s: %w", f.Prefix, f.Cert, err)
	}
	if c.clientCA != nil {
		clientCAs = x509.NewCertPool()
		if !clientCAs.AppendCertsFromPEM(c.clientCA) {
			return tls.Certificate{}, nil, fmt.Errorf("%s-client-ca: %s holds no certificate in PEM; name the file with the authorities of your clients", f.Prefix, f.ClientCA)
		}
	}
	return pair, clientCAs, nil
}

// check says why others would refuse the certificate, whoever has issued it.
func (f Files) check(leaf *x509.Certificate, now time.Time) error {
	const day = time.DateOnly
	usage, use := x509.ExtKeyUsageServerAuth, "a server"
	if f.Client {
		usage, use = x509.ExtKeyUsageClientAuth, "a client"
	}
	itself := x509.NewCertPool()
	itself.AddCert(leaf)
	_, wrong := leaf.Verify(x509.VerifyOptions{Roots: itself, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{usage}})
	switch {
	case now.After(leaf.NotAfter):
		return fmt.Errorf("the certificate has expired on %s; renew it, or set the clock of this machine right", leaf.NotAfter.UTC().Format(day))
	case now.Before(leaf.NotBefore):
		return fmt.Errorf("the certificate is valid from %s on; set the clock of this machine right, or use another certificate", leaf.NotBefore.UTC().Format(day))
	case !f.Client && hostOf(leaf) == "":
		return errors.New("the certificate names no host; make one with the host's name in it as a subject alternative name (DNS or IP)")
	case wrong != nil:
		return fmt.Errorf("the certificate is not for %s: %w; make one that is", use, wrong)
	}
	return nil
}

// firstCertificate is the first certificate of the text.
func firstCertificate(text []byte) (*x509.Certificate, error) {
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return nil, errors.New("there is no certificate in it")
		}
		if block.Type == "CERTIFICATE" {
			return x509.ParseCertificate(block.Bytes)
		}
		text = rest
	}
}

// wildcardLabel takes the place of the star in a name for all hosts of a domain.
const wildcardLabel = "errata"

// hostOf is a host that the certificate is valid for, "" for none. A name comes before
// an address, and one that others can reach before localhost.
func hostOf(leaf *x509.Certificate) string {
	local := ""
	for _, name := range leaf.DNSNames {
		if name == "localhost" {
			local = name
			continue
		}
		if rest, all := strings.CutPrefix(name, "*."); all {
			name = wildcardLabel + "." + rest
		}
		return name
	}
	if local == "" && len(leaf.IPAddresses) > 0 {
		return leaf.IPAddresses[0].String()
	}
	return local
}

// namesOf are the hosts of the certificate, for people.
func namesOf(leaf *x509.Certificate) string {
	names := slices.Clone(leaf.DNSNames)
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	return cmp.Or(strings.Join(names, ", "), leaf.Subject.CommonName, "no name")
}

// Pool has the authorities of the system, and those in the file if there is one.
func Pool(file string) (*x509.CertPool, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // a container may have none
	}
	if file == "" {
		return pool, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("tls-ca: %w; name a file with certificate authorities in PEM", err)
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("tls-ca: %s holds no certificate in PEM; name a file with certificate authorities", file)
	}
	return pool, nil
}
