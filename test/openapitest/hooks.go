package openapitest

import (
	"bytes"
	"io"
	"net/http"
)

// TB is the part of testing.TB that is needed here.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// Handler passes requests on and fails the test for an answer that the document
// does not allow.
func Handler(t TB, next http.Handler) http.Handler {
	t.Helper()
	contract, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := Exchange{Request: r.Clone(r.Context())}
		if comparesRequests(r.URL.Path) {
			r.Body, x.Sent = keep(r.Body)
		}
		tee := &tee{ResponseWriter: w}
		next.ServeHTTP(tee, r) // after a panic there is no answer
		x.Status, x.Header, x.Body = tee.status, w.Header(), tee.body.Bytes()
		contract.report(t, x)
	})
}

// report fails the test for a difference. A request that was given up has no
// answer to compare.
func (c *Contract) report(t TB, x Exchange) {
	if x.Request.Context().Err() != nil {
		return
	}
	if err := c.Check(x); err != nil {
		t.Errorf("%s %s is not as the OpenAPI document has it: %v\n%.2000s", x.Request.Method, x.Request.URL.Path, err, x.Body)
	}
}

// keep reads a body and returns one that reads the same again, with its error.
func keep(body io.ReadCloser) (again io.ReadCloser, content []byte) {
	if body == nil {
		return nil, nil
	}
	content, err := io.ReadAll(body)
	var rest io.Reader = bytes.NewReader(content)
	if err != nil {
		rest = io.MultiReader(rest, broken{err})
	}
	return struct {
		io.Reader
		io.Closer
	}{rest, body}, content
}

// broken is a body that ends with an error.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// tee keeps the answer.
type tee struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (t *tee) WriteHeader(status int) {
	if t.status == 0 && status >= http.StatusOK {
		t.status = status
	}
	t.ResponseWriter.WriteHeader(status)
}

func (t *tee) Write(p []byte) (int, error) {
	if t.status == 0 {
		t.status = http.StatusOK
	}
	t.body.Write(p)
	return t.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (t *tee) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// Transport sends requests with next and fails the test for an answer that the
// document does not allow.
func Transport(t TB, next http.RoundTripper) http.RoundTripper {
	t.Helper()
	contract, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return &transport{next, t, contract}
}

type transport struct {
	next     http.RoundTripper
	t        TB
	contract *Contract
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	x := Exchange{Request: r}
	sent := r
	if comparesRequests(r.URL.Path) {
		sent = r.Clone(r.Context()) // a RoundTripper must not change its request
		sent.Body, x.Sent = keep(r.Body)
	}
	resp, err := t.next.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	again, body := keep(resp.Body)
	resp.Body = again
	x.Status, x.Header, x.Body = resp.StatusCode, resp.Header, body
	t.contract.report(t.t, x)
	return resp, nil
}

// CloseIdleConnections is for http.Client.CloseIdleConnections.
func (t *transport) CloseIdleConnections() {
	if closer, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}
