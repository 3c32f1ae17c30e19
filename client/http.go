package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

const (
	// maxAnswer bounds an answer, in bytes; maxBatch refusals fit.
	maxAnswer = 1 << 20
	// maxRetryAfter bounds the wait that a service may ask for, so that a wrong
	// answer does not silence an application for a day.
	maxRetryAfter = 5 * time.Minute
)

// httpTransport sends batches to POST /api/v1/events.
type httpTransport struct {
	target
	http *http.Client
	own  *http.Transport // nil when Options.HTTP is set
}

func newHTTP(to target, through http.RoundTripper) *httpTransport {
	t := &httpTransport{target: to}
	if through == nil {
		t.own = &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: sendTimeout, IdleConnTimeout: time.Minute,
		}
		through = t.own
	}
	t.http = &http.Client{
		Transport: through,
		// A redirect could send the key to another host, or turn POST into GET.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return t
}

// Send implements Transport.
func (t *httpTransport) Send(ctx context.Context, batch []Message) ([]Refusal, error) {
	var body bytes.Buffer
	for _, m := range batch {
		body.Write(m.Body)
		body.WriteByte('\n')
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.endpoint, &body)
	if err != nil {
		return nil, &SendError{Err: err, Final: true}
	}
	req.Header.Set("Content-Type", "application/x-ndjson")
	req.Header.Set("User-Agent", sdkName)
	if t.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+t.bearer)
	} else {
		req.SetBasicAuth(t.public, t.project)
	}
	resp, err := t.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 == 2 {
		return readTaken(text)
	}
	return nil, readRefused(resp, text)
}

// readTaken reads the answer to a batch of which something was taken. An answer of
// another service, such as a proxy, is an error.
func readTaken(text []byte) ([]Refusal, error) {
	var answer struct {
		Data struct {
			Accepted *int `json:"accepted"`
			Rejected []struct {
				Index   int    `json:"index"`
				Code    string `json:"code"`
				Message string `json:"message"`
			} `json:"rejected"`
		} `json:"data"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Data.Accepted == nil {
		return nil, &SendError{Err: errors.New("the answer is not that of Errata; check the address"), Doubtful: true}
	}
	var refused []Refusal
	for _, r := range answer.Data.Rejected {
		refused = append(refused, Refusal{Index: r.Index, Reason: r.Code + ": " + r.Message, Passing: passing(r.Code)})
	}
	return refused, nil
}

// passing says whether the event may be taken later.
func passing(code string) bool {
	switch code {
	case "log_full", "log_unavailable", "store_unavailable", "overloaded", "rate_limited":
		return true
	}
	return false
}

// readRefused says what to do after an answer that is no success.
func readRefused(resp *http.Response, text []byte) *SendError {
	var answer struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	f := &SendError{Err: fmt.Errorf("the service answers %s", resp.Status)}
	if json.Unmarshal(text, &answer) == nil && answer.Error.Message != "" {
		f.Err = fmt.Errorf("the service answers %s: %s", resp.Status, cut(answer.Error.Message, maxCause))
	}
	switch status := resp.StatusCode; {
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable,
		status == http.StatusBadGateway, status == http.StatusGatewayTimeout,
		status == http.StatusRequestTimeout, status == http.StatusTooEarly:
		f.After = retryAfter(resp.Header.Get("Retry-After"), time.Now())
	case status == http.StatusRequestEntityTooLarge:
		f.TooLarge = true
	case status >= http.StatusInternalServerError:
		f.Doubtful = true
	default:
		f.Final = true
	}
	return f
}

// retryAfter reads the header: seconds or a date. Without one it is 0.
func retryAfter(text string, now time.Time) time.Duration {
	wait := time.Duration(0)
	if seconds, err := strconv.Atoi(text); err == nil {
		wait = time.Duration(min(max(seconds, 0), int(maxRetryAfter/time.Second))) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), maxRetryAfter)
}

// Close implements Transport.
func (t *httpTransport) Close(context.Context) error {
	if t.own != nil {
		t.own.CloseIdleConnections()
	}
	return nil
}
