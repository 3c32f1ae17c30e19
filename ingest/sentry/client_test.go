package sentry_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sentrygo "github.com/getsentry/sentry-go"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/ingest/sentry"
)

type orderError struct{ id int }

func (e *orderError) Error() string { return fmt.Sprintf("order %d failed", e.id) }

// An unchanged SDK finds the receiver by its DSN alone.
func TestSentryGoAsAClient(t *testing.T) {
	h, recorder := newHandler(t)
	server := httptest.NewServer(h)
	defer server.Close()
	client, err := sentrygo.NewClient(sentrygo.ClientOptions{
		Dsn:     strings.Replace(server.URL, "://", "://"+doortest.PublicKey+"@", 1) + "/7",
		Release: "shop@1.4.2", Environment: "production", ServerName: "web-1",
	})
	if err != nil {
		t.Fatal(err)
	}
	hub := sentrygo.NewHub(client, sentrygo.NewScope())
	id := hub.CaptureException(fmt.Errorf("load order: %w", &orderError{42}))
	hub.CaptureMessage("queue is full")
	flushing, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if !hub.FlushWithContext(flushing) {
		t.Fatal("the SDK could not send in 30 s")
	}
	drafts := recorder.Take()
	if len(drafts) != 2 {
		t.Fatalf("%d drafts", len(drafts))
	}
	i := max(0, slices.IndexFunc(drafts, func(d ingest.Draft) bool { return d.Class != "" }))
	thrown, said := drafts[i], drafts[1-i]
	if thrown.ClientID != string(*id) || thrown.Class != "*sentry_test.orderError" || thrown.Message != "load order: order 42 failed" ||
		!strings.HasSuffix(thrown.File, "sentry/client_test.go") || thrown.Line == 0 || thrown.Context.Release != "shop@1.4.2" {
		t.Errorf("%+v", thrown)
	}
	if said.Message != "queue is full" || said.Level.String() != "info" {
		t.Errorf("%+v", said)
	}
}

// Requests share pooled parsers and buffers. Data of one must not appear in
// another.
func TestConcurrentRequestsDoNotMix(t *testing.T) {
	h, recorder := newHandler(t, func(c *sentry.Config) { c.NewID = nil })
	var senders sync.WaitGroup
	for sender := range 8 {
		senders.Go(func() {
			for i := range 50 {
				mark := fmt.Sprintf("%d-%d-%s", sender, i, strings.Repeat("x", i*40))
				post(h, envelopeURL, fmt.Sprintf("{}\n{\"type\":\"event\"}\n"+
					`{"message":%q,"logger":%q,"tags":{"t":%q},"user":{"id":%q},"stacktrace":{"frames":[{"filename":%q}]}}`, mark, mark, mark, mark, mark))
			}
		})
	}
	senders.Wait()
	drafts := recorder.Take()
	if len(drafts) != 400 {
		t.Fatalf("%d drafts", len(drafts))
	}
	seen := map[string]bool{}
	for _, d := range drafts {
		seen[d.Message] = true
		if d.Context.Logger != d.Message || d.Context.Tags[0].Value != d.Message || d.UserID != d.Message || d.File != d.Message {
			t.Fatalf("mixed: %+v", d)
		}
	}
	if len(seen) != 400 {
		t.Errorf("%d different messages of 400", len(seen))
	}
}
