package eventlog_test

import (
	"errors"
	"fmt"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/test/testenv"
)

// When the log has lost a confirmed block, the number of its events is known: the
// next block of its appender says how many events were before it.
func TestCountEvents(t *testing.T) {
	env := newLog(t)
	log := env.Log
	// The same stream, with the right to delete a message.
	stream, err := log.JetStream.Stream(t.Context(), log.Stream)
	if err != nil {
		t.Fatal(err)
	}
	config := stream.CachedInfo().Config
	config.DenyDelete = false
	if err := log.JetStream.DeleteStream(t.Context(), log.Stream); err != nil {
		t.Fatal(err)
	}
	if stream, err = log.JetStream.CreateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	appender := env.appender(t)
	send := func(events int) {
		t.Helper()
		var all []errata.Event
		for i := range events {
			all = append(all, errata.Event{ID: errata.NewEventID(1, fmt.Sprint(i)), Book: errata.BookSystem, Message: "x"})
		}
		if err := appender.Append(t.Context(), all); err != nil {
			t.Fatal(err)
		}
	}
	var counter eventlog.EventCounter
	send(2)
	send(3)
	n, err := counter.Count(t.Context(), log, 1, 2, 1<<20)
	if err != nil || n != (eventlog.EventCount{Events: 5}) {
		t.Fatalf("counted %+v, %v, want 5 events", n, err)
	}
	send(4)
	send(1)
	if err := stream.DeleteMsg(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	n, err = counter.Count(t.Context(), log, 3, 4, 1<<20)
	if err != nil || n != (eventlog.EventCount{Events: 1, Lost: 4}) {
		t.Errorf("counted %+v, %v, want 1 event and 4 lost", n, err)
	}
	// A message that is not a block counts as unreadable.
	if _, err := log.JetStream.Publish(t.Context(), log.Prefix+"ev.0", []byte("no block")); err != nil {
		t.Fatal(err)
	}
	if n, err = counter.Count(t.Context(), log, 5, 5, 1<<20); err != nil || n != (eventlog.EventCount{Unreadable: 1}) {
		t.Errorf("counted %+v, %v, want 1 unreadable block", n, err)
	}
	if _, err = counter.Count(t.Context(), log, 1, 5, 10); !errors.Is(err, eventlog.ErrTooMuch) {
		t.Errorf("more than was to be read: %v", err)
	}
}

// A node that is behind does not make it seem that events are gone.
func TestCountOnANodeThatIsBehind(t *testing.T) {
	l := newLog(t)
	if err := l.appender(t).Append(t.Context(), []errata.Event{event("a")}); err != nil {
		t.Fatal(err)
	}
	var counter eventlog.EventCounter
	if n, err := counter.Count(t.Context(), l.Log, 1, 1, 1<<20); err != nil || n.Events != 1 {
		t.Errorf("on a node that has all: %+v, %v", n, err)
	}
	behind := l.Log
	behind.JetStream = &testenv.Behind{JetStream: l.Log.JetStream, Consumers: 1 << 20}
	if n, err := counter.Count(t.Context(), behind, 1, 1, 1<<20); err == nil {
		t.Errorf("on a node that is behind: %+v, want an error", n)
	}
}
