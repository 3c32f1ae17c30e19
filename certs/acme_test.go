package certs

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestProblemsAreExplained: of the answers of an ACME server, the reason why a proof failed
// is kept, else the first problem; a nonce that is tried again is none.
func TestProblemsAreExplained(t *testing.T) {
	const (
		nonce   = `{"type":"urn:ietf:params:acme:error:badNonce","detail":"bad nonce"}`
		limited = `{"type":"urn:ietf:params:acme:error:rateLimited","detail":"too many certificates"}`
		late    = `{"type":"urn:ietf:params:acme:error:malformed","detail":"order is not ready"}`
		proof   = `{"status":"invalid","challenges":[{"type":"http-01"},{"type":"tls-alpn-01","error":{"detail":"connection refused"}}]}`
		pending = `{"status":"pending","challenges":[{"type":"tls-alpn-01"}]}`
	)
	var answer string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	for name, c := range map[string]struct {
		answers []string
		says    string
	}{
		"nothing":           {[]string{pending}, "no certificate"},
		"no JSON":           {[]string{"hello"}, "no certificate"},
		"a problem":         {[]string{pending, limited, late}, "no certificate: the ACME server says: too many certificates"},
		"a proof":           {[]string{pending, proof, late, nonce}, "no certificate: the ACME server says: connection refused"},
		"a proof later":     {[]string{late, proof}, "no certificate: the ACME server says: connection refused"},
		"a nonce and again": {[]string{nonce, limited}, "no certificate: the ACME server says: too many certificates"},
	} {
		said := &problems{next: &http.Transport{}}
		for _, answer = range c.answers {
			resp, err := (&http.Client{Transport: said}).Get(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(resp.Body); err != nil || string(text) != answer {
				t.Errorf("%s: the client reads %q, %v, want %q", name, text, err, answer)
			}
			resp.Body.Close()
		}
		if got := said.explain(errors.New("no certificate")).Error(); got != c.says {
			t.Errorf("%s: got %q, want %q", name, got, c.says)
		}
		said.end()
		if _, err := (&http.Client{Transport: said}).Get(server.URL); err == nil || !strings.Contains(err.Error(), "the service stops") {
			t.Errorf("%s: a request after the end: %v", name, err)
		}
	}
}
