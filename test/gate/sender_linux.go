package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/errata-log/errata/test/gate/referee"
)

// outcome is what a sender knows of a request.
type outcome string

const (
	accepted outcome = "accepted" // a 2xx for all of it
	refused  outcome = "refused"  // a 4xx: it is not there
	unknown  outcome = "unknown"  // it may be there or not
)

// sendLimit is how long one request of a sender may take.
const sendLimit = 10 * time.Second

// doors are the addresses and keys with which events are sent.
type doors struct {
	addr, key, dsnKey string
	client            *http.Client
	journal           *journal
}

// sender sends its events in the order of their numbers, each until it is
// accepted.
type sender struct {
	doors
	number int
	ledger *referee.Ledger
	random *rand.Rand
	next   int // number of the next event
	batch  int // most events of one request
	fill   int // bytes of payload that each event carries
	pace   time.Duration
}

// giveUp is the chance, one in giveUp, that a request without an answer is not
// sent again before the end of the run, as when a sender crashes.
const giveUp = 8

// run sends until ctx ends. Then it finishes the request under way, unless
// abandon ends first.
func (s *sender) run(ctx, abandon context.Context) {
	for ctx.Err() == nil {
		events := make([]referee.Event, 1+s.random.IntN(s.batch))
		send := s.native
		if s.random.IntN(4) == 0 {
			events, send = events[:1], s.sentry
		}
		for i := range events {
			events[i] = s.ledger.World.Event(s.number, s.next)
			s.next++
		}
		for send(abandon, events) != accepted {
			if abandon.Err() != nil || s.random.IntN(giveUp) == 0 {
				s.ledger.Doubt(events)
				events = nil
				break
			}
			s.ledger.Resent()
			pause(abandon, time.Duration(1+s.random.IntN(40))*time.Millisecond)
		}
		s.ledger.Accept(events)
		if len(events) > 0 && s.random.IntN(8) == 0 {
			send(abandon, events) // once more, whether it arrives or not
		}
		if s.pace > 0 {
			pause(ctx, s.pace)
		}
	}
}

// pause waits between two tries, as a real sender does.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// native sends events as NDJSON.
func (s *sender) native(ctx context.Context, events []referee.Event) outcome {
	var body bytes.Buffer
	for _, e := range events {
		fmt.Fprintf(&body, `{"id":%q,"time":%q,"level":"error","message":"it broke","exception_class":%q,"file":"src/app.go","line":7,"user_id":%d,"ip":"10.1.2.3"%s}`+"\n",
			e.ID, e.At.Format(time.RFC3339Nano), referee.Class(e.Problem), e.User, s.filling())
	}
	return s.postNative(ctx, map[string]string{"Content-Type": "application/x-ndjson"}, body.Bytes(), events)
}

// postNative posts events to the native receiver, which must accept all of them.
func (d *doors) postNative(ctx context.Context, header map[string]string, body []byte, events []referee.Event) outcome {
	var answer struct {
		Data struct {
			Accepted int `json:"accepted"`
		} `json:"data"`
	}
	header["Authorization"] = "Bearer " + d.key
	got := d.post(ctx, "/api/v1/events", header, body, &answer, events)
	if got == accepted && answer.Data.Accepted != len(events) {
		return unknown
	}
	return got
}

// filling is a payload that does not compress, for a large log.
func (s *sender) filling() string {
	if s.fill == 0 {
		return ""
	}
	text := make([]byte, s.fill)
	for i := range text {
		text[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"[s.random.IntN(64)]
	}
	return fmt.Sprintf(`,"payload":{"filling":%q}`, text)
}

// sentry sends one event as an envelope.
func (s *sender) sentry(ctx context.Context, events []referee.Event) outcome {
	e := events[0]
	item := fmt.Sprintf(`{"event_id":%q,"timestamp":%q,"level":"error","platform":"go","user":{"id":"%d"},"exception":[{"type":%q,"value":"it broke","stacktrace":{"frames":[{"filename":"src/app.go","lineno":7,"in_app":true}]}}]}`,
		e.ID, e.At.Format(time.RFC3339Nano), e.User, referee.Class(e.Problem))
	body := fmt.Sprintf("{\"event_id\":%q}\n{\"type\":\"event\",\"length\":%d}\n%s\n", e.ID, len(item), item)
	var answer struct {
		ID string `json:"id"`
	}
	header := map[string]string{"X-Sentry-Auth": "Sentry sentry_version=7, sentry_key=" + s.dsnKey}
	got := s.post(ctx, "/api/1/envelope/", header, []byte(body), &answer, events)
	if got == accepted && answer.ID != e.ID {
		return unknown
	}
	return got
}

// post sends one request, logs it, and returns its outcome.
func (d *doors) post(ctx context.Context, path string, header map[string]string, body []byte, answer any, events []referee.Event) outcome {
	begin := time.Now()
	code, err := d.try(ctx, path, header, body, answer)
	got := unknown
	switch {
	case err == nil && code/100 == 2:
		got = accepted
	case err == nil && code/100 == 4 && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests:
		got = refused
	}
	d.journal.events(events, code, got, err, time.Since(begin))
	return got
}

func (d *doors) try(ctx context.Context, path string, header map[string]string, body []byte, answer any) (code int, err error) {
	ctx, cancel := context.WithTimeout(ctx, sendLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+d.addr+path, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("make a request: %w", err)
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	resp, err := d.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.StatusCode, err
	}
	if resp.StatusCode/100 == 2 {
		if err := json.Unmarshal(text, answer); err != nil {
			return resp.StatusCode, errors.New("the answer is cut")
		}
	}
	return resp.StatusCode, nil
}
