package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/errata-log/errata/client"
)

var errAway = errors.New("away")

func TestWhatAServiceDoesNotTakeIsSentAgainWithItsID(t *testing.T) {
	r := &recorder{answer: func(try int, batch []client.Message) ([]client.Refusal, error) {
		switch try {
		case 1:
			return nil, errAway
		case 2:
			panic("a bug in the transport")
		case 3: // the second event for good, the third one may be taken later
			return []client.Refusal{{Index: 1, Reason: "invalid_event"}, {Index: 2, Reason: "log_full", Passing: true}, {Index: 99}}, nil
		}
		return nil, nil
	}}
	var told []string
	c := newClient(t, r, func(o *client.Options) {
		o.OnError = func(err error) { told = append(told, err.Error()); panic("a bug in the hook") }
	})
	var ids []string
	for i := range 3 {
		ids = append(ids, c.Capture(t.Context(), fmt.Errorf("error %d", i)))
	}
	flush(t, c)
	var got []string
	for _, e := range r.events(t) {
		got = append(got, e.ID)
	}
	if !slices.Equal(got, []string{ids[0], ids[2]}) {
		t.Errorf("taken %v of %v", got, ids)
	}
	stats := c.Stats()
	if stats.Sent != 2 || stats.Dropped[client.DroppedRefused] != 1 || stats.Retries != 3 || stats.Waiting != 0 {
		t.Errorf("%+v", stats)
	}
	closeIt(t, c) // so that nothing writes told any more
	want := []string{"away", "the transport panicked: a bug in the transport", "event " + ids[1] + " was refused: invalid_event", "event " + ids[2] + " was refused: log_full"}
	if !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

func TestAFullQueueDropsTheNewestAndSaysSo(t *testing.T) {
	release := make(chan struct{})
	r := &recorder{answer: func(int, []client.Message) ([]client.Refusal, error) { <-release; return nil, nil }}
	c := newClient(t, r, func(o *client.Options) { o.Queue = 10 })
	for i := range 25 {
		id := c.Capture(t.Context(), fmt.Errorf("error %d", i))
		if (id == "") != (i >= 10) {
			t.Errorf("event %d has id %q", i, id)
		}
	}
	if stats := c.Stats(); stats.Waiting != 10 || stats.Dropped[client.DroppedQueueFull] != 15 {
		t.Errorf("%+v", stats)
	}
	close(release)
	closeIt(t, c)
	for i, e := range r.events(t) {
		if e.Message != fmt.Sprintf("error %d", i) {
			t.Errorf("event %d is %q", i, e.Message)
		}
	}
	reports := slices.DeleteFunc(r.all(t), func(e sent) bool { return !isReport(e) })
	if len(reports) != 1 || reports[0].Message != "15 errors were dropped before they were sent" || reports[0].Level != "warning" ||
		fmt.Sprint(reports[0].Payload["dropped_since_start"]) != "map[queue_full:15]" {
		t.Errorf("reports %+v", reports)
	}
}

func TestMemoryOfTheQueueIsBounded(t *testing.T) {
	release := make(chan struct{})
	r := &recorder{answer: func(int, []client.Message) ([]client.Refusal, error) { <-release; return nil, nil }}
	c := newClient(t, r, func(o *client.Options) { o.Queue = 1 << 20 })
	message := strings.Repeat("x", 12<<10)
	for range 2000 {
		c.CaptureMessage(t.Context(), message)
	}
	if stats := c.Stats(); stats.Waiting > 1400 || stats.Waiting < 1000 || stats.Dropped[client.DroppedQueueFull] != 2000-uint64(stats.Waiting) {
		t.Errorf("%+v", stats)
	}
	close(release)
}

func TestBatches(t *testing.T) {
	var mu sync.Mutex
	var sizes []int
	r := &recorder{answer: func(_ int, batch []client.Message) ([]client.Refusal, error) {
		mu.Lock()
		defer mu.Unlock()
		sizes = append(sizes, len(batch))
		if len(batch) > 40 {
			return nil, &client.SendError{Err: errors.New("too large"), TooLarge: true}
		}
		return nil, nil
	}}
	c := newClient(t, r)
	for range 250 {
		c.Capture(t.Context(), errPlain)
	}
	flush(t, c)
	mu.Lock()
	defer mu.Unlock()
	if got := len(r.events(t)); got != 250 || slices.Max(sizes) > 100 || len(sizes) > 25 || c.Stats().Lost() != 0 {
		t.Errorf("%d events in batches of %v, %+v", got, sizes, c.Stats())
	}
}

func TestCloseEndsWithItsContext(t *testing.T) {
	r := &recorder{answer: func(int, []client.Message) ([]client.Refusal, error) { return nil, errAway }}
	c, err := client.New(client.Options{Transport: r})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		c.Capture(t.Context(), errPlain)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "3 events are not sent") {
		t.Errorf("flush: %v", err)
	}
	first := c.Close(ctx)
	if !errors.Is(first, context.DeadlineExceeded) || !strings.Contains(first.Error(), "3 events were dropped") {
		t.Errorf("close: %v", first)
	}
	if again := c.Close(t.Context()); again != first { // the same error
		t.Errorf("close again: %v", again)
	}
	if id := c.Capture(t.Context(), errPlain); id != "" {
		t.Errorf("captured after the end: %q", id)
	}
	if stats := c.Stats(); stats.Dropped[client.DroppedClosed] != 4 || stats.Waiting != 0 || r.closed != 1 {
		t.Errorf("%+v, closed %d times", stats, r.closed)
	}
	if err := c.Flush(t.Context()); err != nil {
		t.Errorf("flush after the end: %v", err)
	}
}

func TestAnswersOfTheService(t *testing.T) {
	const busy = `{"error":{"code":"log_full","message":"the log is full","request_id":"x"}}`
	for _, c := range []struct {
		name    string
		answers []func(http.ResponseWriter)
		sent    uint64
		told    string
	}{
		{"unavailable, then back", []func(http.ResponseWriter){answer(503, busy, "Retry-After", "0"), answer(502, "<html>"), answer(429, "", "Retry-After", "soon")}, 1, "503 Service Unavailable: the log is full"},
		{"a key that does not work", []func(http.ResponseWriter){answer(401, `{"error":{"message":"send an ingest key"}}`)}, 0, "401 Unauthorized: send an ingest key"},
		{"elsewhere", []func(http.ResponseWriter){answer(307, "", "Location", "/login")}, 0, "307 Temporary Redirect"},
		{"nothing taken", []func(http.ResponseWriter){answer(422, `{"error":{"message":"message is needed"}}`)}, 0, "422 Unprocessable Entity: message is needed"},
		{"one refused", []func(http.ResponseWriter){answer(202, `{"data":{"accepted":0,"rejected":[{"index":0,"code":"invalid_level","message":"no level"}]}}`)}, 0, "invalid_level: no level"},
		{"one refused for now", []func(http.ResponseWriter){answer(202, `{"data":{"accepted":0,"rejected":[{"index":0,"code":"log_full","message":"later"}]}}`)}, 1, "log_full: later"},
		{"a proxy that answers itself", []func(http.ResponseWriter){answer(200, "<html>Welcome</html>")}, 1, "not that of Errata"},
		{"too large for good", []func(http.ResponseWriter){answer(413, "")}, 0, "413 Request Entity Too Large"},
		{"broken eight times", slices.Repeat([]func(http.ResponseWriter){answer(500, "")}, 8), 0, "500 Internal Server Error"},
		{"broken seven times", slices.Repeat([]func(http.ResponseWriter){answer(500, "")}, 7), 1, "500 Internal Server Error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.answers...)
			var told []error
			l := s.to(t, func(o *client.Options) { o.OnError = func(err error) { told = append(told, err) } })
			l.Capture(t.Context(), errPlain)
			closeIt(t, l)
			if stats := l.Stats(); stats.Sent != c.sent || stats.Lost() != 1-c.sent {
				t.Errorf("%+v", stats)
			}
			if len(told) == 0 || !strings.Contains(told[0].Error(), c.told) {
				t.Errorf("told %q, want %q", told, c.told)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			for i, body := range s.bodies[:len(c.answers)] {
				if body != s.bodies[0] {
					t.Errorf("try %d is another body", i)
				}
			}
		})
	}
}

func TestRetryAfterIsRespected(t *testing.T) {
	s := serve(t, answer(429, "", "Retry-After", "1"))
	c := s.to(t)
	c.Capture(t.Context(), errPlain)
	closeIt(t, c)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.at) != 2 || s.at[1].Sub(s.at[0]) < time.Second {
		t.Errorf("requests at %v", s.at)
	}
}

func TestRequest(t *testing.T) {
	s := serve(t)
	host := strings.TrimPrefix(s.URL, "http://")
	const public = "8e3a1d5c9b7f4e2a8c6d0f1e2b3a4c5d"
	for _, c := range []struct {
		options          client.Options
		path             string
		bearer           string
		public, password string
	}{
		{client.Options{DSN: "http://" + public + "@" + host + "/7"}, "/api/v1/events", "", public, "7"},
		{client.Options{DSN: "http://" + public + "@" + host + "/errors/7/"}, "/errors/api/v1/events", "", public, "7"},
		{client.Options{DSN: "http://eik_ing_1@" + host + "/7"}, "/api/v1/events", "Bearer eik_ing_1", "", ""},
		{client.Options{URL: s.URL, Key: "K"}, "/api/v1/events", "Bearer K", "", ""},
		{client.Options{URL: s.URL + "/errors/", Key: "K"}, "/errors/api/v1/events", "Bearer K", "", ""},
		{client.Options{URL: s.URL + "/api/v1/events", Key: "K"}, "/api/v1/events", "Bearer K", "", ""},
	} {
		l, err := client.New(c.options)
		if err != nil {
			t.Fatal(err)
		}
		l.Capture(t.Context(), errPlain)
		l.CaptureMessage(t.Context(), "two\nlines")
		closeIt(t, l)
		s.mu.Lock()
		r, body := s.requests[len(s.requests)-1], s.bodies[len(s.bodies)-1]
		s.mu.Unlock()
		user, password, _ := r.BasicAuth()
		if r.Method != "POST" || r.URL.Path != c.path || r.Header.Get("Content-Type") != "application/x-ndjson" || strings.Count(body, "\n") != 2 {
			t.Errorf("%+v: %s %s %v %q", c.options, r.Method, r.URL.Path, r.Header, body)
		}
		if user != c.public || password != c.password || c.bearer != "" && r.Header.Get("Authorization") != c.bearer {
			t.Errorf("%+v: authorization %q", c.options, r.Header.Get("Authorization"))
		}
	}
}

func TestOptionsThatCannotWork(t *testing.T) {
	for _, o := range []client.Options{
		{}, {URL: "http://x"}, {URL: "x", Key: "k"}, {URL: "ftp://x", Key: "k"}, {DSN: "nonsense"}, {DSN: "http://host/1"},
		{DSN: "http://key@host"}, {DSN: "ftp://key@host/1"}, {DSN: "http://secret@ho st/1"},
		{DSN: "http://8e3a1d5c9b7f4e2a8c6d0f1e2b3a4c5d@host/shop"},
	} {
		c, err := client.New(o)
		if err == nil || c != nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v", o, err)
		}
		if _, ok := errors.AsType[*url.Error](err); ok {
			t.Errorf("%+v: %v quotes what it was given", o, err)
		}
	}
}

func TestNoGoroutineIsLeft(t *testing.T) {
	before := goleak.IgnoreCurrent()
	s := serve(t, answer(503, ""))
	for range 3 {
		c := s.to(t)
		c.Capture(t.Context(), errPlain)
		closeIt(t, c)
	}
	away, err := client.New(client.Options{URL: "http://127.0.0.1:1", Key: "K"})
	if err != nil {
		t.Fatal(err)
	}
	away.Capture(t.Context(), errPlain)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := away.Close(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("close without a service and without time: %v", err)
	}
	s.Close()
	goleak.VerifyNone(t, before)
}
