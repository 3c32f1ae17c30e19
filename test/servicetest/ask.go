package servicetest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/errata-log/errata/datadir"
)

// Get returns the answer to a GET with the admin key, which must be 200.
func (s *Service) Get(t testing.TB, path string) string {
	t.Helper()
	req, err := NewRequest(http.MethodGet, s.URL+path, nil, "Authorization", "Bearer "+s.Admin)
	if err != nil {
		t.Fatal(err)
	}
	resp, body, err := Send(s.HTTP, req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v %s", path, err, body)
	}
	return body
}

// GetData reads the "data" of the answer to [Service.Get].
func (s *Service) GetData(t testing.TB, path string, into any) {
	t.Helper()
	body := s.Get(t, path)
	if err := json.Unmarshal([]byte(body), &struct{ Data any }{into}); err != nil {
		t.Fatalf("%s: %v in %s", path, err, body)
	}
}

// DSN is the DSN of the first start, with the host of the URL.
func (s *Service) DSN(t testing.TB, at string) string {
	t.Helper()
	dsn, err := url.Parse(s.File(t, datadir.DSNFile))
	if err != nil {
		t.Fatal(err)
	}
	where, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	dsn.Host = where.Host
	return dsn.String()
}
