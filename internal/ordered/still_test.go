package ordered_test

import (
	"context"
	"testing"
	"time"

	"github.com/errata-log/errata/internal/ordered"
)

// fill publishes as many messages as one pull has room for, and one more. The last message of
// the pull has so many bytes of data.
func (s *server) fill(last int) (messages int) {
	s.t.Helper()
	publish := func(data int) {
		if _, err := s.Publish(s.t.Context(), "a", make([]byte, data)); err != nil {
			s.t.Fatal(err)
		}
		messages++
	}
	const large = 1_000_000
	for range ordered.PullBytes / large {
		publish(large)
	}
	publish(last)
	publish(1)
	return messages
}

// The messages of one pull have exactly as many bytes as were asked for. The server ends the pull
// and tells nobody: without a look at the consumer the reader waits for two heartbeats.
func TestPullOfExactlyItsBytes(t *testing.T) {
	const guess = 100_000
	s := newServer(t)
	r, bytes := s.open(1), 0
	for range s.fill(guess) - 1 {
		msg, _, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		bytes += len(msg.Subject()) + len(msg.Reply()) + len(msg.Data())
	}

	exact := newServer(t)
	messages := exact.fill(guess + ordered.PullBytes - bytes)
	_, heartbeat := ordered.Pull(exact)
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(heartbeat))
	defer cancel()
	r = exact.open(1)
	for range messages {
		if _, _, err := r.Next(ctx); err != nil {
			t.Fatalf("the reader waits although there are more messages: %v", err)
		}
	}
	if asked := len(exact.names()); asked != 2 {
		t.Errorf("the messages came from %d consumers, want a second one behind the full pull", asked)
	}
}

// A consumer without more messages does not stand still.
func TestNothingToRead(t *testing.T) {
	s := newServer(t)
	s.publish("a")
	r := s.open(1)
	s.want(r, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if _, _, err := r.Next(ctx); err == nil {
		t.Fatal("a message that nobody published")
	}
	if asked := len(s.names()); asked != 1 {
		t.Errorf("a reader at the end of the stream asked for %d consumers", asked)
	}
}
