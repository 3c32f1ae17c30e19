// Command pebble is an ACME server for tests, Pebble of Let's Encrypt, with a name server
// for which every name is 127.0.0.1, and those below elsewhere.example are 127.0.0.2. It
// writes one JSON object to standard output when it is ready, and ends with its standard
// input. It is a module of its own, so that nobody who builds or imports Errata gets the
// dependencies of Pebble, and must import nothing of Errata.
package main

import (
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"github.com/miekg/dns"
)

// ready is what is written.
type ready struct {
	// Directory is the URL of the ACME server.
	Directory string
	// Authority is the certificate of its HTTPS, and Root the one that issued
	// certificates lead to; both are PEM.
	Authority, Root string
}

func main() {
	port := flag.Int("port", 0, "Where proofs are asked for by tls-alpn-01.")
	seconds := flag.Uint64("seconds", 0, "How long certificates are valid.")
	flag.Parse()
	if err := run(*port, *seconds); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(port int, seconds uint64) error {
	names, err := serveNames()
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"PEBBLE_VA_NOSLEEP": "1", // no pause before a proof is asked for
		"PEBBLE_AUTHZREUSE": "0", // every order is proved
		// A client waits for up to two seconds after a nonce that is rejected at random.
		"PEBBLE_WFE_NONCEREJECT": "0",
	} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	logger := log.New(os.Stderr, "", 0)
	store := db.NewMemoryStore()
	issuer := ca.New(logger, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {ValidityPeriod: seconds}})
	const noPort = 1 // nobody proves anything over HTTP
	prover := va.New(logger, noPort, port, true, names, store)
	const retryAfter = 1 // seconds
	front := wfe.New(logger, store, prover, issuer, []string{"example"}, true, false, retryAfter, retryAfter)
	server := httptest.NewTLSServer(front.Handler())
	defer server.Close()
	if err := json.NewEncoder(os.Stdout).Encode(ready{
		Directory: server.URL + wfe.DirectoryPath,
		Authority: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})),
		Root:      string(issuer.GetRootCert(0).PEM()),
	}); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// serveNames starts the name server and returns its address.
func serveNames() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &dns.Server{Listener: listener, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, asked *dns.Msg) {
		answer := new(dns.Msg)
		answer.SetReply(asked)
		for _, q := range asked.Question {
			if q.Qtype != dns.TypeA {
				continue
			}
			ip := net.IPv4(127, 0, 0, 1)
			if strings.HasSuffix(q.Name, ".elsewhere.example.") {
				ip = net.IPv4(127, 0, 0, 2)
			}
			answer.Answer = append(answer.Answer, &dns.A{Hdr: dns.RR_Header{Name: q.Name, Rrtype: dns.TypeA, Class: dns.ClassINET}, A: ip})
		}
		_ = w.WriteMsg(answer)
	})}
	go func() { _ = server.ActivateAndServe() }() // ends with the process
	return listener.Addr().String(), nil
}
