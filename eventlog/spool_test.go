package eventlog_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/migrations"
)

// lastOf is the last sequence of a stream.
func lastOf(t *testing.T, l eventlog.Log) uint64 {
	t.Helper()
	state, err := eventlog.Inspect(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return state.Last
}

// drainInto moves the blocks of the spool to the log until the test ends, and returns how
// many it has moved.
func (l logEnv) drainInto(t *testing.T, log, spool eventlog.Log) (drained <-chan int) {
	took := make(chan int, 100)
	drain := eventlog.NewDrain(eventlog.DrainConfig{
		Log: log, JetStream: l.Broker.JetStream, Stream: spool.Stream, Name: "a", Reader: "drain", Take: eventlog.TakeBlocks(time.Now),
		Took: func(fresh, _ int, _ uint64) {
			select {
			case took <- fresh:
			default: // the test has seen enough
			}
		},
	})
	var work background.Runner
	work.Start(drain.Run)
	t.Cleanup(func() {
		if err := work.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return took
}

// awayLog is a log that nobody takes blocks for until its stream is made.
func (l logEnv) awayLog() eventlog.Log {
	log := l.Log
	log.Stream, log.Prefix = "LATER"+l.Namespace, "later"+l.Namespace+"."
	return log
}

// openAppender makes an appender that is closed at the end of the test.
func openAppender(t *testing.T, log, spool eventlog.Log) *eventlog.Appender {
	t.Helper()
	appender, err := eventlog.NewAppender(eventlog.AppenderConfig{Log: log, Spool: &spool})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := appender.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return appender
}

// When the disk of a node is full, neither its log nor its spool takes a block. Senders are told
// so while they still have the time to turn to another node.
func TestSpoolThatTakesNothing(t *testing.T) {
	const senderWaits = 2 * time.Second
	env := newLog(t)
	log, spool := env.awayLog(), env.Log
	spool.Stream, spool.Prefix = "GONE"+env.Namespace, "gone"+env.Namespace+"."
	appender := openAppender(t, log, spool)
	for _, id := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		ctx, cancel := context.WithTimeout(t.Context(), senderWaits)
		err := appender.Append(ctx, []errata.Event{event(id)})
		if errata.KindOf(err) != errata.KindLogUnavailable || ctx.Err() != nil {
			t.Errorf("event %s: got %v after less than %v, want a refusal", id, err, senderWaits)
		}
		cancel()
	}
}

// While nobody takes blocks for the log they go into the spool. A Drain moves them to the log
// once it is there, each of them once, and later blocks go there at once.
func TestSpoolWhileTheLogIsAway(t *testing.T) {
	env := newLog(t)
	const node = "a:6222"
	if err := migrations.MakeNodeSpool(t.Context(), env.Broker.JetStream, env.Namespace, node, "", 64<<20); err != nil {
		t.Fatal(err)
	}
	log, spool := env.awayLog(), env.Log
	spool.Stream, spool.Prefix = migrations.NodeSpool(env.Namespace, node)
	appender := openAppender(t, log, spool)
	put := func(id string) (position uint64) {
		t.Helper()
		ctx, written := errata.WithWritten(t.Context())
		if err := appender.Append(ctx, []errata.Event{event(id)}); err != nil {
			t.Fatal(err)
		}
		return written.Last()
	}
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		if at := put(id); at != 0 {
			t.Errorf("an event in the spool is said to be at %d of the log, want nothing", at)
		}
	}
	if n := lastOf(t, spool); n != 5 {
		t.Fatalf("the spool has %d blocks, want 5", n)
	}
	if _, err := env.Broker.JetStream.CreateStream(t.Context(), jetstream.StreamConfig{Name: log.Stream, Subjects: []string{log.Prefix + ">"}, AllowDirect: true}); err != nil {
		t.Fatal(err)
	}
	drained := env.drainInto(t, log, spool)
	for n := 0; n < 5; {
		n += <-drained
	}
	// The log is tried again within a second; before that blocks may still take the spool.
	for before := lastOf(t, spool); ; before = lastOf(t, spool) {
		if at := put("again"); lastOf(t, spool) == before {
			if last := lastOf(t, log); at == 0 || at > last { // more of the spool may have followed
				t.Errorf("the event is said to be at %d of the log, which ends at %d", at, last)
			}
			break
		}
	}
	if n := lastOf(t, log); n < 6 {
		t.Errorf("the log has %d blocks, want those of the spool and a new one", n)
	}
}

// Who leaves moves what waits before it stops, and says how much it could not move. Others leave it
// for the next start.
func TestALeavingNodeEmptiesItsSpool(t *testing.T) {
	env := newLog(t)
	const node = "b:6222"
	if err := migrations.MakeNodeSpool(t.Context(), env.Broker.JetStream, env.Namespace, node, "", 64<<20); err != nil {
		t.Fatal(err)
	}
	spool := env.Log
	spool.Stream, spool.Prefix = migrations.NodeSpool(env.Namespace, node)
	away := env.Log
	away.Stream, away.Prefix = "NONE"+env.Namespace, "none"+env.Namespace+"."
	appender, err := eventlog.NewAppender(eventlog.AppenderConfig{Log: away, Spool: &spool})
	if err != nil {
		t.Fatal(err)
	}
	if err := appender.Append(t.Context(), []errata.Event{event("a")}); err != nil {
		t.Fatal(err)
	}
	if err := appender.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	left := make(chan struct{})
	stop := func(log eventlog.Log) error {
		return eventlog.StartSpoolDrain(eventlog.DrainConfig{
			Log: log, JetStream: env.Broker.JetStream, Stream: spool.Stream, Name: "b", Reader: "drain", Take: eventlog.TakeBlocks(time.Now),
		}, left).Stop(t.Context())
	}
	if err := stop(away); err != nil || lastOf(t, env.Log) != 0 {
		t.Errorf("one that comes back: %v", err)
	}
	close(left)
	if err := stop(away); err == nil || !strings.Contains(err.Error(), "1 blocks of events stay") {
		t.Errorf("without a log: %v", err)
	}
	if err := stop(env.Log); err != nil || lastOf(t, env.Log) != 1 {
		t.Errorf("with a log: %v, its last fact is %d", err, lastOf(t, env.Log))
	}
}

// A command stands on the log behind the events that its node has accepted into the spool before,
// and does not wait for those that come meanwhile.
func TestACommandComesBehindTheSpool(t *testing.T) {
	env := newLog(t)
	const node = "c:6222"
	if err := migrations.MakeNodeSpool(t.Context(), env.Broker.JetStream, env.Namespace, node, "", 64<<20); err != nil {
		t.Fatal(err)
	}
	away, spool := env.awayLog(), env.Log
	spool.Stream, spool.Prefix = migrations.NodeSpool(env.Namespace, node)
	appender := openAppender(t, away, spool)
	put := func(id string) {
		t.Helper()
		if err := appender.Append(t.Context(), []errata.Event{event(id)}); err != nil {
			t.Fatal(err)
		}
	}
	commander, err := eventlog.NewCommander(eventlog.CommanderConfig{
		Log: env.Log, Answers: storedAnswers{answer: eventlog.Answer(`{}`), checkpoint: 1 << 40}, Spool: &spool,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer commander.Close()
	put("before")

	ctx, giveUp := context.WithTimeout(t.Context(), time.Second)
	defer giveUp()
	if _, err := commander.Do(ctx, eventlog.CommandBarrier, nil); errata.KindOf(err) != errata.KindLogUnavailable || lastOf(t, env.Log) != 0 {
		t.Fatalf("while the event is in the spool: %v, the log has %d facts", err, lastOf(t, env.Log))
	}
	done := make(chan error, 1)
	go func() { // it sends to done once
		_, err := commander.Do(t.Context(), eventlog.CommandBarrier, nil)
		done <- err
	}()
	env.drainInto(t, env.Log, spool)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	facts, _ := env.readAll(t)
	if len(facts) != 2 || facts[0].Kind != eventlog.FactEvents || facts[1].Kind != eventlog.FactCommand {
		t.Errorf("got %v, want the event and then the command", facts)
	}
}
