package certs

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"strings"
)

// leaves has the certificates without their chains, as PEM.
func leaves(certs []tls.Certificate) string {
	var text strings.Builder
	for _, cert := range certs {
		_ = pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]}) // a Builder does not fail
	}
	return text.String()
}

// Transport is for requests to a service, with the authorities of the system and of the
// file, "" for none.
func Transport(caFile string) (*http.Transport, error) {
	pool, err := Pool(caFile)
	if err != nil {
		return nil, err
	}
	return transport((*Certificates)(nil).Client(pool)), nil
}

// LocalClient makes t a transport to the service that has written the file of
// Config.Shown, at whatever address of this machine: it trusts the certificates in it, and
// checks for a name in them. Only the service and its user can write that file. Without
// the file t stays as it is.
func LocalClient(t *http.Transport, shown string) error {
	text, err := os.ReadFile(shown)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the certificate of the service: %w", err)
	}
	leaf, err := firstCertificate(text)
	if err != nil {
		return fmt.Errorf("read the certificate of the service in %s: %w", shown, err)
	}
	cfg := t.TLSClientConfig.Clone()
	cfg.ServerName, cfg.RootCAs = hostOf(leaf), x509.NewCertPool()
	cfg.RootCAs.AppendCertsFromPEM(text)
	t.TLSClientConfig = cfg
	return nil
}
