package engine

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"time"
)

// routesHost is the name in the certificate of each node: which node it is does not
// matter, only that it knows the secret.
const routesHost = "errata-cluster"

// certificates of routes are valid between these times: nobody renews them, and a clock
// that is wrong must not keep a node away.
var (
	routesFrom  = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	routesUntil = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
)

// routesTLS is the mutual TLS of the routes between the nodes of a cluster. All of them make
// the same authority of the secret, and each one a certificate of its own: so whoever does
// not know the secret gets no route and reads none, and there is no file to hand around.
func routesTLS(secret, node string) (*tls.Config, error) {
	seed, err := hkdf.Key(sha256.New, []byte(secret), nil, "errata cluster: authority of routes", ed25519.SeedSize)
	if err != nil {
		return nil, fmt.Errorf("engine: make a key of cluster-secret: %w", err)
	}
	authorityKey := ed25519.NewKeyFromSeed(seed)
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "errata cluster"}, NotBefore: routesFrom, NotAfter: routesUntil,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	own, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("engine: make the key of this node: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("engine: make the certificate of this node: %w", err)
	}
	leaf := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: node}, DNSNames: []string{routesHost}, NotBefore: routesFrom, NotAfter: routesUntil,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	pool := x509.NewCertPool()
	chain, err := x509.CreateCertificate(rand.Reader, authority, authority, authorityKey.Public(), authorityKey)
	if err == nil {
		if authority, err = x509.ParseCertificate(chain); err == nil {
			pool.AddCert(authority)
			chain, err = x509.CreateCertificate(rand.Reader, leaf, authority, own, authorityKey)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("engine: make the certificate of this node: %w", err)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{chain}, PrivateKey: key}},
		RootCAs:      pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
		ServerName: routesHost, MinVersion: tls.VersionTLS13,
	}, nil
}
