package certs

import (
	"crypto/x509"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/errata-log/errata/test/certtest"
)

func TestOptionsNameWhatIsWrong(t *testing.T) {
	acme := func(domains ...string) Options { return Options{Domains: domains, Directory: DefaultDirectory} }
	for name, c := range map[string]struct {
		options Options
		says    string // "" for options that can be used
	}{
		"nothing":              {Options{}, ""},
		"files":                {Options{CertFile: "c", KeyFile: "k"}, ""},
		"no key":               {Options{CertFile: "c"}, "tls-key: tls-cert names a certificate"},
		"no certificate":       {Options{KeyFile: "k"}, "tls-cert: tls-key names a key"},
		"domain":               {acme("errata.example.com", "bücher.example"), ""},
		"domain and files":     {Options{CertFile: "c", KeyFile: "k", Domains: []string{"errata.example.com"}, Directory: DefaultDirectory}, "leave one of them empty"},
		"email alone":          {Options{Email: "a@example.com"}, "tls-acme-email"},
		"all names":            {acme("*.example.com"), "tls-alpn-01"},
		"an address":           {acme("10.0.0.1"), "not a domain name"},
		"an address of IPv6":   {acme("::1"), "not a domain name"},
		"a port":               {acme("errata.example.com:443"), "not a domain name"},
		"a URL":                {acme("https://errata.example.com"), "not a domain name"},
		"a host alone":         {acme("errata"), "not a domain name"},
		"a directory in clear": {Options{Domains: []string{"errata.example.com"}, Directory: "http://ca.example.com/dir"}, "tls-acme-directory"},
		"no directory":         {Options{Domains: []string{"errata.example.com"}}, "tls-acme-directory"},
	} {
		err := c.options.Validate()
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %q", name, err, c.says)
		}
	}
}

// TestFilesNameWhatIsWrong: the error of a start says which setting is wrong and what to do.
func TestFilesNameWhatIsWrong(t *testing.T) {
	a := certtest.New(t)
	good := a.Issue(t, certtest.Template("errata.example.com"))
	issue := func(change func(*x509.Certificate)) certtest.Pair {
		template := certtest.Template("errata.example.com")
		change(template)
		return a.Issue(t, template)
	}
	for name, c := range map[string]struct {
		pair   certtest.Pair
		client bool
		says   []string
	}{
		"good":            {pair: good},
		"good, of client": {pair: good, client: true},
		"not PEM":         {pair: certtest.Pair{Cert: []byte("hello"), Key: good.Key}, says: []string{"tls-cert", "no certificate", "PEM"}},
		"key for cert":    {pair: certtest.Pair{Cert: good.Key, Key: good.Key}, says: []string{"tls-cert", "no certificate"}},
		"cert for key":    {pair: certtest.Pair{Cert: good.Cert, Key: good.Cert}, says: []string{"tls-key", "PRIVATE KEY"}},
		"another key":     {pair: certtest.Pair{Cert: good.Cert, Key: a.Issue(t, certtest.Template("x")).Key}, says: []string{"tls-key", "does not fit", "does not match", "give the key"}},
		"authority first": {pair: certtest.Pair{Cert: append(a.PEM(), good.Cert...), Key: good.Key}, says: []string{"tls-key", "does not fit"}},
		"expired": {pair: issue(func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) }),
			says: []string{"tls-cert", "has expired on " + time.Now().Add(-time.Hour).UTC().Format(time.DateOnly), "renew"}},
		"not valid yet":      {pair: issue(func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Hour) }), says: []string{"tls-cert", "is valid from", "clock"}},
		"no name":            {pair: issue(func(c *x509.Certificate) { c.DNSNames = nil }), says: []string{"tls-cert", "names no host", "subject alternative name"}},
		"no name, of client": {pair: issue(func(c *x509.Certificate) { c.DNSNames = nil }), client: true},
		"for clients": {pair: issue(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }),
			says: []string{"tls-cert", "not for a server"}},
		"for servers, of client": {pair: issue(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }), client: true,
			says: []string{"tls-cert", "not for a client"}},
	} {
		cert, key := c.pair.Write(t)
		_, err := OpenFiles(Files{Prefix: "tls", Cert: cert, Key: key, Client: c.client}, Config{Listener: "nats"})
		if (err == nil) != (c.says == nil) {
			t.Errorf("%s: got %v", name, err)
		}
		for _, part := range c.says {
			if err != nil && !strings.Contains(err.Error(), part) {
				t.Errorf("%s: got %v, want %q in it", name, err, part)
			}
		}
	}
}

// TestMissingFilesAreNamed, with their setting and what to do.
func TestMissingFilesAreNamed(t *testing.T) {
	cert, key := certtest.New(t).Issue(t, certtest.Template("errata.example.com")).Write(t)
	nothing := filepath.Join(t.TempDir(), "nothing.pem")
	for says, files := range map[string]Files{
		"tls-cert: open " + nothing:             {Prefix: "tls", Cert: nothing, Key: key},
		"tls-key: open " + nothing:              {Prefix: "tls", Cert: cert, Key: nothing},
		"nats-tls-client-ca: open " + nothing:   {Prefix: "nats-tls", Cert: cert, Key: key, ClientCA: nothing},
		"nats-tls-client-ca: " + key + " holds": {Prefix: "nats-tls", Cert: cert, Key: key, ClientCA: key},
	} {
		if _, err := OpenFiles(files, Config{Listener: "nats"}); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "name the file") {
			t.Errorf("got %v, want %q and what to do", err, says)
		}
	}
	if _, err := Pool(nothing); err == nil || !strings.Contains(err.Error(), "tls-ca") {
		t.Errorf("authorities in no file: %v", err)
	}
	if _, err := Pool(key); err == nil || !strings.Contains(err.Error(), "no certificate") {
		t.Errorf("authorities in a key: %v", err)
	}
	if err := (Files{Prefix: "nats-tls", ClientCA: "x"}).Validate(); err == nil || !strings.Contains(err.Error(), "nats-tls-client-ca") {
		t.Errorf("authorities of clients without a certificate: %v", err)
	}
}

func TestURLs(t *testing.T) {
	at := func(port int) net.Addr { return &net.TCPAddr{IP: net.IPv4zero, Port: port} }
	for name, c := range map[string]struct {
		hosts        []string
		port         int
		local, named string
	}{
		"a name":           {[]string{"errata.example.com", "10.0.0.1"}, 8443, "https://127.0.0.1:8443", "https://errata.example.com:8443"},
		"the usual port":   {[]string{"errata.example.com"}, 443, "https://127.0.0.1:443", "https://errata.example.com"},
		"all names":        {[]string{"*.example.com"}, 443, "https://127.0.0.1:443", "https://errata.example.com"},
		"localhost first":  {[]string{"localhost", "errata.lan"}, 1, "https://127.0.0.1:1", "https://errata.lan:1"},
		"localhost":        {[]string{"localhost", "127.0.0.1"}, 1, "https://127.0.0.1:1", "https://localhost:1"},
		"an address":       {[]string{"10.0.0.1"}, 1, "https://127.0.0.1:1", "https://10.0.0.1:1"},
		"an IPv6 address":  {[]string{"fd00::1"}, 1, "https://127.0.0.1:1", "https://[fd00::1]:1"},
		"no certificate":   {nil, 8080, "http://127.0.0.1:8080", "http://127.0.0.1:8080"},
		"no certificate 2": {nil, 80, "http://127.0.0.1:80", "http://127.0.0.1:80"},
	} {
		var certs *Certificates
		if c.hosts != nil {
			cert, key := certtest.New(t).Issue(t, certtest.Template(c.hosts...)).Write(t)
			var err error
			if certs, err = OpenFiles(Files{Prefix: "tls", Cert: cert, Key: key}, Config{Listener: "http"}); err != nil {
				t.Fatal(err)
			}
		}
		if local, named := certs.URLs(at(c.port)); local != c.local || named != c.named {
			t.Errorf("%s: got %s and %s, want %s and %s", name, local, named, c.local, c.named)
		}
	}
}
