package quota_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/ingest/native"
	"github.com/errata-log/errata/ingest/otlp"
	"github.com/errata-log/errata/ingest/quota"
	"github.com/errata-log/errata/ingest/sentry"
)

const (
	envelope   = "{}\n{\"type\":\"event\"}\n{\"message\":\"it broke\"}"
	report     = "{}\n{\"type\":\"client_report\"}\n{\"discarded_events\":[{\"reason\":\"ratelimit_backoff\",\"category\":\"error\",\"quantity\":12}]}"
	sessions   = "{}\n{\"type\":\"sessions\"}\n{\"any\":1}"
	exportLogs = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"severityNumber":17,"body":{"stringValue":"it broke"}}]}]}]}`
)

// doors are all receivers of events with the same buckets: 600 events a minute of a
// key, 100 of them at once.
type doors struct {
	native, sentry, otlp http.Handler
	recorder             *doortest.Recorder
	registry             *prometheus.Registry
	quotas               *quota.Quotas
	lost                 func() map[string]uint64
}

func newDoors(t *testing.T) *doors {
	t.Helper()
	registry := prometheus.NewRegistry()
	quotas, _ := newQuotas(t, quota.Config{KeyPerMinute: 600, Registerer: registry})
	d := &doors{recorder: &doortest.Recorder{}, registry: registry, quotas: quotas}
	cfg := door.Config{Accepter: d.recorder, Keyring: doortest.Keys{}, Quotas: d.quotas, Registerer: registry}
	n, err := native.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sentry.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	o, err := otlp.New(otlp.Config{Config: cfg})
	if err != nil {
		t.Fatal(err)
	}
	d.native, d.sentry, d.otlp, d.lost = n, s, o, s.Lost
	return d
}

// unread is a body that must not be read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

func (d *doors) send(h http.Handler, path string, body io.Reader, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, body)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

var (
	token  = []string{"X-Api-Key", doortest.Token, "Content-Type", "application/json"}
	public = []string{"X-Sentry-Auth", "Sentry sentry_key=" + doortest.PublicKey}
)

// TestEveryDoorRefusesInItsOwnWords: each receiver refuses a key over its limit in its
// own format, before it reads the body.
func TestEveryDoorRefusesInItsOwnWords(t *testing.T) {
	for _, c := range []struct {
		name   string
		door   func(*doors) http.Handler
		path   string
		header []string
		good   string
	}{
		{"native", func(d *doors) http.Handler { return d.native }, "/api/v1/events", token, `{"message":"it broke"}`},
		{"envelope", func(d *doors) http.Handler { return d.sentry }, "/api/7/envelope/", public, envelope},
		{"store", func(d *doors) http.Handler { return d.sentry }, "/api/7/store/", public, `{"message":"it broke"}`},
		{"logs", func(d *doors) http.Handler { return d.otlp }, "/v1/logs", token, exportLogs},
		{"traces", func(d *doors) http.Handler { return d.otlp }, "/v1/traces", token, `{"resourceSpans":[]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDoors(t)
			if w := d.send(c.door(d), c.path, strings.NewReader(c.good), c.header...); w.Code >= 300 {
				t.Fatalf("with a full bucket: %d %s", w.Code, w.Body)
			}
			for _, id := range []string{"token", "public"} {
				q := loud
				q.Project, q.KeyID = doortest.Project, id
				d.quotas.Charge(q, 700)
			}
			w := d.send(c.door(d), c.path, unread{t}, c.header...)
			if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" || w.Header().Get("Retry-After") == "5" {
				t.Errorf("with an empty bucket: %d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
			}
			limits := w.Header().Get("X-Sentry-Rate-Limits")
			if strings.HasPrefix(c.path, "/api/7/") && limits != w.Header().Get("Retry-After")+":error;default;log_item:key:quota" {
				t.Errorf("X-Sentry-Rate-Limits %q", limits)
			}
			if n := doortest.Counters(d.registry)["errata_refused_events_total 7 key_limit"]; n != 1 {
				t.Errorf("%v refused events were counted", n)
			}
		})
	}
}

// A request without an event is not charged: an SDK sends a transaction for each
// request of its application, which must not use up the limit of errors.
func TestWhatHoldsNoEventIsFree(t *testing.T) {
	d := newDoors(t)
	for n := range 500 {
		if w := d.send(d.sentry, "/api/7/envelope/", strings.NewReader(sessions), public...); w.Code != 200 {
			t.Fatalf("session %d: %d %s", n, w.Code, w.Body)
		}
	}
	for n := range 100 {
		if w := d.send(d.sentry, "/api/7/envelope/", strings.NewReader(envelope), public...); w.Code != 200 {
			t.Fatalf("event %d: %d %s", n, w.Code, w.Body)
		}
	}
	if w := d.send(d.sentry, "/api/7/envelope/", strings.NewReader(envelope), public...); w.Code != 429 || d.recorder.Count() != 100 {
		t.Errorf("event 101: %d, %d taken", w.Code, d.recorder.Count())
	}
}

// A client report of events that an SDK dropped because of a rate limit is taken while
// the limit lasts. The events count as lost at the sender and not as refused.
func TestReportsAreHeardMeanwhile(t *testing.T) {
	d := newDoors(t)
	key := loud
	key.Project, key.KeyID = doortest.Project, "public"
	d.quotas.Charge(key, 200)
	if w := d.send(d.sentry, "/api/7/envelope/", strings.NewReader(report), public...); w.Code != 200 {
		t.Errorf("a report: %d %s", w.Code, w.Body)
	}
	if w := d.send(d.sentry, "/api/7/envelope/", strings.NewReader(envelope+strings.TrimPrefix(envelope, "{}")), public...); w.Code != 429 {
		t.Errorf("two events: %d %s", w.Code, w.Body)
	}
	// A key in the envelope is known only after the first line.
	inside := `{"dsn":"https://` + doortest.PublicKey + `@errata.example.com/7"}` + strings.TrimPrefix(envelope, "{}")
	if w := d.send(d.sentry, "/api/7/envelope/", strings.NewReader(inside)); w.Code != 429 {
		t.Errorf("an event with its key inside: %d %s", w.Code, w.Body)
	}
	counters := doortest.Counters(d.registry)
	if d.lost()["ratelimit_backoff"] != 12 || counters["errata_refused_events_total 7 key_limit"] != 3 || d.recorder.Count() != 0 {
		t.Errorf("lost %v, %d taken, counters %v", d.lost(), d.recorder.Count(), counters)
	}
}

// A native batch is taken as a whole or refused with 429.
func TestABatchIsAnsweredAsOne(t *testing.T) {
	d := newDoors(t)
	batch := strings.Repeat("{\"message\":\"a\"}\n", 150)
	if w := d.send(d.native, "/api/v1/events", strings.NewReader(batch), token...); w.Code != 202 || d.recorder.Count() != 150 {
		t.Fatalf("the first batch: %d %s", w.Code, w.Body)
	}
	w := d.send(d.native, "/api/v1/events", strings.NewReader(batch), token...)
	if w.Code != 429 || d.recorder.Count() != 150 || !strings.Contains(w.Body.String(), "key-events-per-minute") || w.Header().Get("Retry-After") != "6" {
		t.Errorf("the second: %d %s, %d taken, Retry-After %s", w.Code, w.Body, d.recorder.Count(), w.Header().Get("Retry-After"))
	}
}

// slowLog is an accepter that counts how many calls are in it.
type slowLog struct{ inside, proceed chan struct{} }

func (s slowLog) Accept(_ context.Context, _ ingest.Source, drafts []ingest.Draft) (ingest.Receipt, error) {
	s.inside <- struct{}{}
	<-s.proceed
	return ingest.Receipt{Accepted: len(drafts)}, nil
}

// A key with many connections has few requests on their way to the log.
func TestFewRequestsOfAKeyAreBeforeTheLog(t *testing.T) {
	quotas, _ := newQuotas(t, quota.Config{KeyPerMinute: 60_000})
	log := slowLog{make(chan struct{}, 100), make(chan struct{})}
	h, err := native.New(door.Config{Accepter: log, Keyring: doortest.Keys{}, Quotas: quotas})
	if err != nil {
		t.Fatal(err)
	}
	d := &doors{}
	var done sync.WaitGroup
	for range 30 {
		done.Go(func() {
			if w := d.send(h, "/api/v1/events", strings.NewReader(`{"message":"a"}`), token...); w.Code != http.StatusAccepted {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	for range 6 {
		<-log.inside
	}
	select {
	case <-log.inside:
		t.Error("a seventh request is before the log")
	case <-time.After(100 * time.Millisecond): // reason: only time shows that no request comes
	}
	close(log.proceed)
	done.Wait()
}

// A large batch that waited for its turn while the one before it used up the quota is refused
// unparsed: it counts as one event, and nothing of it is taken.
func TestALargeBatchIsRefusedUnparsed(t *testing.T) {
	registry := prometheus.NewRegistry()
	quotas, _ := newQuotas(t, quota.Config{KeyPerMinute: 600, Registerer: registry})
	log := slowLog{make(chan struct{}, 100), make(chan struct{})}
	h, err := native.New(door.Config{Accepter: log, Keyring: doortest.Keys{}, Quotas: quotas})
	if err != nil {
		t.Fatal(err)
	}
	d := &doors{}
	// The array is not complete, which a parser would say.
	cut := "[" + strings.Repeat(`{"message":"it broke"},`, 10_000)
	whole := strings.Repeat("{\"message\":\""+strings.Repeat("it broke ", 100)+"\"}\n", 300)
	var done sync.WaitGroup
	done.Go(func() {
		if w := d.send(h, "/api/v1/events", strings.NewReader(whole), token...); w.Code != http.StatusAccepted {
			t.Errorf("the first: %d %s", w.Code, w.Body)
		}
	})
	<-log.inside
	for range 3 {
		done.Go(func() {
			if w := d.send(h, "/api/v1/events", strings.NewReader(cut), token...); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
				t.Errorf("a later one: %d %s", w.Code, w.Body)
			}
		})
	}
	close(log.proceed)
	done.Wait()
	if n := doortest.Counters(registry)["errata_refused_events_total 7 key_limit"]; n != 3 {
		t.Errorf("%v refused events were counted, want one for each request", n)
	}
	if n := quotas.Lanes(); n != 0 {
		t.Errorf("%d lanes are left behind", n)
	}
}
