package ordered_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/internal/ordered"
	"github.com/errata-log/errata/test/testenv"
)

const stream = "S"

// server is a JetStream with one stream, and what is done to those who ask for consumers.
type server struct {
	jetstream.JetStream
	t *testing.T

	mu     sync.Mutex
	asked  []string // names of consumers
	silent int      // so many of the next requests for a consumer get no answer
	behind int      // so many of the next consumers are on a node that has no message yet
}

func newServer(t *testing.T) *server {
	t.Helper()
	js := testenv.DialJetStream(t, testenv.ServeNATS(t, t.TempDir()))
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: stream, Subjects: []string{"a", "b"}}); err != nil {
		t.Fatal(err)
	}
	return &server{JetStream: js, t: t}
}

// CreateConsumer answers nothing where the node that got the consumer is gone.
func (s *server) CreateConsumer(ctx context.Context, stream string, cfg jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	s.mu.Lock()
	s.asked = append(s.asked, cfg.Name)
	silent := s.silent > 0
	if silent {
		s.silent--
	}
	if s.behind > 0 {
		s.behind--
		cfg.DeliverPolicy, cfg.OptStartSeq = jetstream.DeliverNewPolicy, 0
	}
	s.mu.Unlock()
	if silent {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.JetStream.CreateConsumer(ctx, stream, cfg)
}

func (s *server) beSilent(times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = times
}

func (s *server) beBehind(times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behind = times
}

// names are those that consumers were asked for with.
func (s *server) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// left are the consumers that the server has.
func (s *server) left() (names []string) {
	s.t.Helper()
	of, err := s.Stream(s.t.Context(), stream)
	if err != nil {
		s.t.Fatal(err)
	}
	list := of.ConsumerNames(s.t.Context())
	for name := range list.Name() {
		names = append(names, name)
	}
	if err := list.Err(); err != nil {
		s.t.Fatal(err)
	}
	return names
}

func (s *server) publish(subjects ...string) {
	s.t.Helper()
	for _, subject := range subjects {
		if _, err := s.Publish(s.t.Context(), subject, []byte(subject)); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *server) open(from uint64, subjects ...string) *ordered.Reader {
	s.t.Helper()
	r, err := ordered.Open(s.t.Context(), ordered.Config{JetStream: s, Stream: stream, From: from, Subjects: subjects})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(r.Stop)
	return r
}

func (s *server) want(r *ordered.Reader, sequences ...uint64) {
	s.t.Helper()
	for _, want := range sequences {
		if _, meta, err := r.Next(s.t.Context()); err != nil || meta.Sequence.Stream != want {
			s.t.Fatalf("got %+v, %v, want message %d", meta, err, want)
		}
	}
}

func TestFromAMessageOn(t *testing.T) {
	s := newServer(t)
	s.publish("a", "b", "a", "b", "b")
	all, some := s.open(2), s.open(0, "a")
	s.want(all, 2, 3, 4, 5)
	s.want(some, 1, 3)
	s.publish("b", "a")
	s.want(all, 6, 7)
	s.want(some, 7)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := all.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("at the end: %v", err)
	}
	s.publish("a")
	s.want(all, 8)
}

// When the node with the consumer is gone, the reader asks for another consumer, each time under a
// new name. The cluster may have given the consumer of the last name to a node that is gone too.
func TestGoesOnWithAnotherConsumer(t *testing.T) {
	s := newServer(t)
	s.publish("a", "b", "a", "b", "a")
	r := s.open(1, "a")
	s.want(r, 1)
	s.beSilent(1)
	if err := s.DeleteConsumer(t.Context(), stream, s.names()[0]); err != nil {
		t.Fatal(err)
	}
	s.want(r, 3, 5) // some of them had come already
	s.publish("a")
	s.want(r, 6)
	names := s.names()
	slices.Sort(names)
	if len(names) < 3 || len(slices.Compact(names)) != len(s.names()) {
		t.Errorf("asked for the consumers %q, want at least three names", names)
	}
}

// A server that was started again has lost the consumer. The reader does not wait for heartbeats
// that do not come.
func TestServerStartedAgain(t *testing.T) {
	broker := testenv.NewBroker(t)
	broker.NeedEmbedded()
	if _, err := broker.JetStream.CreateStream(t.Context(), jetstream.StreamConfig{Name: stream, Subjects: []string{"a", "b"}}); err != nil {
		t.Fatal(err)
	}
	s := &server{JetStream: broker.JetStream, t: t}
	r := s.open(1)
	s.publish("a")
	s.want(r, 1)
	waiting := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() { // it sends to waiting once
		_, meta, err := r.Next(ctx)
		if err == nil && meta.Sequence.Stream != 2 {
			err = fmt.Errorf("got message %d, want 2", meta.Sequence.Stream)
		}
		waiting <- err
	}()
	broker.RestartNATS()
	began := time.Now()
	s.publish("b")
	if err := <-waiting; err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took >= 5*time.Second {
		t.Errorf("the reader went on after %s, as if it had waited for heartbeats", took)
	}
}

// Whoever opens a reader is told at once what the server says, and after some tries that nobody
// answers.
func TestNoConsumer(t *testing.T) {
	s := newServer(t)
	if _, err := ordered.Open(t.Context(), ordered.Config{JetStream: s, Stream: "NONE"}); !errors.Is(err, jetstream.ErrStreamNotFound) || len(s.names()) != 1 {
		t.Errorf("no stream: %v after %d tries", err, len(s.names()))
	}
	s.beSilent(2)
	s.publish("a")
	s.want(s.open(1), 1)
	s.beSilent(1 << 20)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := ordered.Open(ctx, ordered.Config{JetStream: s, Stream: stream}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("nobody answers: %v", err)
	}
}

// The server need not keep the consumers of readers that are gone until it forgets them.
func TestStopRemovesTheConsumer(t *testing.T) {
	s := newServer(t)
	s.publish("a")
	r := s.open(1)
	s.want(r, 1)
	r.Stop()
	for {
		names := s.left()
		if len(names) == 0 {
			return
		}
		if !background.Wait(t.Context(), 10*time.Millisecond) {
			t.Fatalf("the server has the consumers %q", names)
		}
	}
}

func TestStopWhileItWaits(t *testing.T) {
	s := newServer(t)
	r := s.open(1)
	ended := make(chan error, 1)
	go func() { // it sends to ended once
		_, _, err := r.Next(t.Context())
		ended <- err
	}()
	r.Stop()
	if err := <-ended; !errors.Is(err, jetstream.ErrMsgIteratorClosed) {
		t.Errorf("after Stop: %v", err)
	}
	r.Stop()
	if _, _, err := r.Next(t.Context()); !errors.Is(err, jetstream.ErrMsgIteratorClosed) {
		t.Errorf("behind Stop: %v", err)
	}
}
