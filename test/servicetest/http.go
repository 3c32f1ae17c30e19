package servicetest

import (
	"context"
	"io"
	"net/http"
	"time"
)

// RequestTimeout is far longer than any request of a test takes.
const RequestTimeout = 30 * time.Second

// NewHTTP is a client that adds nothing to a request, and changes nothing of an
// answer.
func NewHTTP() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       RequestTimeout,
	}
}

// NewRequest makes a request. The header is a list of names and values.
func NewRequest(method, url string, body io.Reader, header ...string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(context.Background(), method, url, body)
	if err != nil {
		return nil, err
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return req, nil
}

// Send sends a request and reads the whole answer.
func Send(client *http.Client, req *http.Request) (*http.Response, string, error) {
	resp, err := client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp, string(text), err
}
