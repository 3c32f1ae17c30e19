//go:build clients

package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/getsentry/sentry-go"

	"github.com/errata-log/errata/test/servicetest"
)

// project is one of the plan, as its clients know it.
type project struct {
	ID  uint64 `json:"id"`
	DSN string `json:"dsn"` // with the recorder's address
	Key string `json:"key"`
}

// senders send the events of a plan through the recorder.
type senders struct {
	plan     plan
	recorder *recorder
	projects []project
	site     *httptest.Server // of the browser's page
}

// Senders that are part of the test send at once.
const (
	nativeWorkers = 2
	nativeEvents  = 100 // of a request, on the average
	goWorkers     = 6
)

// send sends all events of a phase by all clients at once, and returns when all
// of them are done.
func (s *senders) send(t *testing.T, phase int) {
	t.Helper()
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { s.native(t, phase) })
	all.Go(func() { s.sentryGo(t, phase) })
	env := s.env(t)
	programs := []struct {
		client planClient
		name   string
		args   []string
	}{
		{bySentryNode, servicetest.Program(t, "node", "nodejs"), []string{"testdata/plan/node.mjs"}},
		{bySentryPython, pythonWith(t, pythonPackages...), []string{"testdata/plan/sentry.py"}},
		{byOTelPython, pythonWith(t, otelPackages...), []string{"testdata/plan/otel.py"}},
		{bySentryBrowser, servicetest.Program(t, "node", "nodejs"), []string{"testdata/plan/browse.mjs", servicetest.Program(t, "chromium", "chromium"), s.site.URL}},
	}
	for _, p := range programs {
		file := s.plan.file(t, p.client, phase)
		all.Go(func() {
			if code, output := program(t, append(env, "PLAN="+file), p.name, p.args...); code != 0 {
				t.Errorf("%s %v: %d %s", filepath.Base(p.name), p.args, code, output)
			}
		})
	}
}

// env tells an application the addresses and keys of the projects, in the plan's
// order.
func (s *senders) env(t *testing.T) []string {
	t.Helper()
	text, err := json.Marshal(s.projects)
	if err != nil {
		t.Fatal(err)
	}
	return []string{"PROJECTS=" + string(text), "RECEIVER=" + s.recorder.URL()}
}

// native sends NDJSON, a request for each project in turn.
func (s *senders) native(t *testing.T, phase int) {
	events := s.plan.events(byNative, phase)
	client := servicetest.NewHTTP()
	defer client.CloseIdleConnections()
	requests := make(chan []planned)
	var workers sync.WaitGroup
	for range nativeWorkers {
		workers.Go(func() {
			for some := range requests {
				if err := s.post(client, some); err != nil {
					t.Error(err)
				}
			}
		})
	}
	waiting := make([][]planned, len(s.projects))
	for _, e := range events {
		if waiting[e.Project] = append(waiting[e.Project], e); len(waiting[e.Project]) == nativeEvents {
			requests <- waiting[e.Project]
			waiting[e.Project] = nil
		}
	}
	for _, some := range waiting {
		if len(some) > 0 {
			requests <- some
		}
	}
	close(requests)
	workers.Wait()
}

// post sends events of one project.
func (s *senders) post(client *http.Client, events []planned) error {
	var body bytes.Buffer
	lines := json.NewEncoder(&body)
	for _, e := range events {
		if err := lines.Encode(e.document()); err != nil {
			return err
		}
	}
	req, err := servicetest.NewRequest(http.MethodPost, s.recorder.URL()+"/api/v1/events", &body,
		"Authorization", "Bearer "+s.projects[events[0].Project].Key, "Content-Type", "application/x-ndjson")
	if err != nil {
		return err
	}
	_, text, err := servicetest.Send(client, req)
	if err != nil {
		return err
	}
	var answer struct {
		Data struct {
			Accepted int
			Adjusted []any
		}
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Data.Accepted != len(events) || len(answer.Data.Adjusted) > 0 {
		return fmt.Errorf("%d events: %.1000s (%v)", len(events), text, err)
	}
	return nil
}

// document is the event as the native receiver takes it.
func (e *planned) document() map[string]any {
	return map[string]any{
		"id": e.ID, "time": e.time(), "type": e.Book, "level": e.Level, "message": e.Message, "exception_class": e.Class,
		"fingerprint": []string{e.Class}, "environment": e.Environment, "release": e.Release,
	}
}

// sentryGo has an application with sentry-go in each project.
func (s *senders) sentryGo(t *testing.T, phase int) {
	transport := &http.Transport{MaxIdleConnsPerHost: goWorkers * len(s.projects)}
	defer transport.CloseIdleConnections()
	events := make(chan planned)
	var workers sync.WaitGroup
	for range goWorkers {
		clients := make([]*sentry.Client, len(s.projects))
		for i, p := range s.projects {
			direct := sentry.NewHTTPSyncTransport()
			direct.Timeout = never
			client, err := sentry.NewClient(sentry.ClientOptions{Dsn: p.DSN, HTTPTransport: transport, Transport: direct})
			if err != nil {
				t.Error(err)
				return
			}
			defer client.Close()
			clients[i] = client
		}
		workers.Go(func() {
			for e := range events {
				if clients[e.Project].CaptureEvent(sentryEvent(e), nil, sentry.NewScope()) == nil {
					t.Errorf("sentry-go does not send %+v", e)
				}
			}
		})
	}
	for _, e := range s.plan.events(bySentryGo, phase) {
		events <- e
	}
	close(events)
	workers.Wait()
}

func sentryEvent(e planned) *sentry.Event {
	event := sentry.NewEvent()
	event.Timestamp, event.Environment, event.Release = e.time(), e.Environment, e.Release
	event.Level, event.Fingerprint = sentry.Level(e.Level), []string{e.Class}
	event.Tags = map[string]string{"book": e.Book}
	event.Exception = []sentry.Exception{{Type: e.Class, Value: e.Message}}
	return event
}

// newSite serves the page in which the browser's application runs.
func newSite(t *testing.T) *httptest.Server {
	t.Helper()
	script := filepath.Join(t.TempDir(), "page.js")
	bundled := servicetest.Run(t, nil, filepath.FromSlash("node_modules/esbuild/bin/esbuild"), "testdata/plan/page.js",
		"--bundle", "--format=iife", "--log-level=error", "--outfile="+script)
	if bundled.Code != 0 {
		t.Fatal(bundled.Output)
	}
	pages := http.NewServeMux()
	pages.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(w, `<!doctype html><link rel="icon" href="data:,"><title>Shop</title><script src="/page.js"></script>`)
	})
	pages.HandleFunc("/page.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, script) })
	site := httptest.NewServer(pages)
	t.Cleanup(site.Close)
	return site
}

// at is a DSN with another address.
func at(t *testing.T, dsn, address string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = strings.TrimPrefix(address, "http://")
	return u.String()
}
