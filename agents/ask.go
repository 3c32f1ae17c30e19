package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

const (
	// askTimeout bounds a request to the API. The slowest, a change of records, says
	// after 100 s itself that it is not visible yet.
	askTimeout = 105 * time.Second
	// maxBody bounds an answer of the API; the longest is a page of 25 records.
	maxBody = 4 << 20
	// logsPath is where the API has the records.
	logsPath = "/api/v1/admin/tools/logs"
)

// caller is on whose behalf the tools ask the API.
type caller struct {
	// base is where requests go, page where links lead; both without a slash at the end.
	base, page string
	// header has the caller's key and what says where the caller is.
	header http.Header
	// peer is the address of the caller's connection, "" when the API sees it itself.
	peer string
}

// refusal is an error that the API answers.
type refusal struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Details any    `json:"details,omitempty"`
}

func (r *refusal) Error() string { return r.Code + ": " + r.Message }

// asker sends requests to the API.
type asker struct{ api http.RoundTripper }

// ask sends one request and decodes the envelope of the answer. The error is a *refusal
// when the API refuses the request.
func (a asker) ask(ctx context.Context, who caller, method, path string, query url.Values, body any) (data, meta any, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	req, err := request(ctx, who, method, path, query, body)
	if err != nil {
		return nil, nil, err
	}
	resp, err := a.api.RoundTrip(req)
	if err != nil {
		return nil, nil, fmt.Errorf("reach the service: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return nil, nil, fmt.Errorf("read the answer: %w", err)
	}
	var envelope struct {
		Data, Meta any
		Error      *refusal
	}
	numbers := json.NewDecoder(bytes.NewReader(text))
	numbers.UseNumber() // a position has more digits than a float64
	if err := numbers.Decode(&envelope); err != nil {
		return nil, nil, fmt.Errorf("the service answered %d, which is not Errata's: %w", resp.StatusCode, err)
	}
	if envelope.Error != nil {
		envelope.Error.Status = resp.StatusCode
		return nil, nil, envelope.Error
	}
	if resp.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("the service answered %d", resp.StatusCode)
	}
	return envelope.Data, envelope.Meta, nil
}

func request(ctx context.Context, who caller, method, path string, query url.Values, body any) (*http.Request, error) {
	content := []byte{}
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		content = text
	}
	address := who.base + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	req.Header = who.header.Clone()
	req.RemoteAddr = who.peer
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// inProcess asks a handler of this process.
type inProcess struct{ handler http.Handler }

// RoundTrip runs the handler. The whole answer is in memory.
func (p inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	w := NewRecorder()
	p.handler.ServeHTTP(w, req)
	if err := req.Context().Err(); errors.Is(err, context.DeadlineExceeded) && w.Body.Len() == 0 {
		return nil, err
	}
	return &http.Response{StatusCode: w.Status, Header: w.header, Body: io.NopCloser(&w.Body), Request: req}, nil
}

// Recorder keeps the answer of a handler.
type Recorder struct {
	Status int // 200 until the handler says another
	Body   bytes.Buffer
	header http.Header
	begun  bool
}

// NewRecorder makes an empty one.
func NewRecorder() *Recorder { return &Recorder{Status: http.StatusOK, header: http.Header{}} }

// Header is the header of the answer.
func (r *Recorder) Header() http.Header { return r.header }

// WriteHeader sets the status, once.
func (r *Recorder) WriteHeader(status int) {
	if !r.begun && status >= http.StatusOK { // those below only announce an answer
		r.Status, r.begun = status, true
	}
}

// Write adds to the body.
func (r *Recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.Body.Write(p)
}
