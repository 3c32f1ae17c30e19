package eventlog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// logEnv is an empty log on a real server.
type logEnv struct {
	*testenv.Broker
	eventlog.Log
}

func newLog(t testing.TB) logEnv {
	t.Helper()
	env := testenv.NewBroker(t)
	return logEnv{Broker: env, Log: eventlog.Log{
		NATS: env.NATS, JetStream: env.JetStream,
		Stream: migrations.StreamName(env.Namespace), Prefix: migrations.SubjectPrefix(env.Namespace),
	}}
}

func (l logEnv) appender(t testing.TB) *eventlog.Appender {
	t.Helper()
	return appenderTo(t, eventlog.AppenderConfig{Log: l.Log})
}

func appenderTo(t testing.TB, cfg eventlog.AppenderConfig) *eventlog.Appender {
	t.Helper()
	a, err := eventlog.NewAppender(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return a
}

func event(id string) errata.Event {
	at := time.UnixMilli(1_795_231_120_683).UTC()
	return errata.Event{ID: errata.NewEventID(1, id), Project: 1, Book: errata.BookSystem, Time: at, Received: at, Message: id, Payload: []byte("{}")}
}

// readAll reads the log from its first fact to its last.
func (l logEnv) readAll(t testing.TB) (facts []eventlog.Fact, ids map[errata.EventID]int) {
	t.Helper()
	state, err := eventlog.Inspect(t.Context(), l.Log)
	if err != nil {
		t.Fatal(err)
	}
	r, err := eventlog.NewReader(t.Context(), l.Log, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ids = map[errata.EventID]int{}
	for range state.Last {
		f, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		facts = append(facts, f)
		if f.Kind != eventlog.FactEvents {
			continue
		}
		block, err := eventlog.DecodeBlock(f.Data, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range block.Len() {
			ids[block.ID(i)]++
		}
	}
	return facts, ids
}

// TestAppendIsOnTheLog: events that Append confirmed are on the log once, and
// callers at the same time share blocks.
func TestAppendIsOnTheLog(t *testing.T) {
	l := newLog(t)
	a := l.appender(t)
	const callers, each = 32, 25
	var done sync.WaitGroup
	for c := range callers {
		done.Go(func() {
			for i := range each {
				if err := a.Append(t.Context(), []errata.Event{event(fmt.Sprint(c, "-", i))}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	facts, ids := l.readAll(t)
	if len(ids) != callers*each {
		t.Errorf("%d events on the log, want %d", len(ids), callers*each)
	}
	for id, n := range ids {
		if n != 1 {
			t.Errorf("event %s is there %d times", id, n)
		}
	}
	if len(facts) >= callers*each/2 {
		t.Errorf("%d blocks for %d events: callers do not share blocks", len(facts), callers*each)
	}
	for i, f := range facts {
		if f.Sequence != uint64(i+1) {
			t.Fatalf("fact %d has sequence %d", i, f.Sequence)
		}
	}
}

// TestAppendManyAtOnce: one call larger than a block becomes several.
func TestAppendManyAtOnce(t *testing.T) {
	l := newLog(t)
	events := make([]errata.Event, 3*errata.MaxBlockEvents/2)
	for i := range events {
		events[i] = event(fmt.Sprint(i))
	}
	if err := l.appender(t).Append(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	facts, ids := l.readAll(t)
	if len(ids) != len(events) || len(facts) < 2 {
		t.Errorf("%d events in %d blocks, want %d in at least 2", len(ids), len(facts), len(events))
	}
}

// TestAppendFull: a full log refuses at once, and takes events again when the
// operator has given it room.
func TestAppendFull(t *testing.T) {
	l := newLog(t)
	s, err := l.Log.JetStream.Stream(t.Context(), l.Stream)
	if err != nil {
		t.Fatal(err)
	}
	config := s.CachedInfo().Config
	config.MaxBytes = 1 << 10
	if _, err := l.Log.JetStream.UpdateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	a := l.appender(t)
	err = nil
	for i := 0; err == nil && i < 100; i++ {
		err = a.Append(t.Context(), []errata.Event{event(fmt.Sprint(i))})
	}
	var told *errata.Error
	if !errors.As(err, &told) || told.Kind != errata.KindLogFull || told.RetryAfter == 0 {
		t.Fatalf("a full log answers %v, want log_full with a time to retry", err)
	}
	config.MaxBytes = 1 << 20
	if _, err := l.Log.JetStream.UpdateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	if err := a.Append(t.Context(), []errata.Event{event("after")}); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

func TestAppendRefusesTooLarge(t *testing.T) {
	l := newLog(t)
	e := event("large")
	e.Payload = make([]byte, eventlog.MaxEventSize)
	err := l.appender(t).Append(t.Context(), []errata.Event{event("small"), e})
	if errata.KindOf(err) != errata.KindInvalidEvent {
		t.Errorf("got %v, want invalid_event", err)
	}
	if state, err := eventlog.Inspect(t.Context(), l.Log); err != nil || state.Last != 0 {
		t.Errorf("the log ends at %d (%v), want nothing of a refused call on it", state.Last, err)
	}
}

func TestAppenderClose(t *testing.T) {
	l := newLog(t)
	a := l.appender(t)
	if err := a.Append(t.Context(), []errata.Event{event("a")}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := a.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Append(t.Context(), []errata.Event{event("b")}); errata.KindOf(err) != errata.KindLogUnavailable {
		t.Errorf("after Close: got %v, want log_unavailable", err)
	}
}

func TestReaderRefuses(t *testing.T) {
	l := newLog(t)
	a := l.appender(t)
	for i := range 3 {
		if err := a.Append(t.Context(), []errata.Event{event(fmt.Sprint(i))}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := eventlog.NewReader(t.Context(), l.Log, 5); !errors.Is(err, eventlog.ErrLogShorter) {
		t.Errorf("from behind the end: %v", err)
	}
	s, err := l.Log.JetStream.Stream(t.Context(), l.Stream)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Purge(t.Context(), jetstream.WithPurgeSequence(3)); err != nil {
		t.Fatal(err)
	}
	front, err := eventlog.NewReader(t.Context(), l.Log, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer front.Close()
	var gap *eventlog.GapError
	if _, err := front.Next(t.Context()); !errors.As(err, &gap) || gap.From != 2 || gap.To != 2 || !errors.Is(err, eventlog.ErrGap) {
		t.Errorf("from before the beginning: %v, want a gap of fact 2", err)
	}
	if f, err := front.Next(t.Context()); err != nil || f.Sequence != 3 {
		t.Errorf("behind the gap: fact %d, %v", f.Sequence, err)
	}
	r, err := eventlog.NewReader(t.Context(), l.Log, 4)
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	r.Close()
	if _, err := r.Next(t.Context()); !errors.Is(err, jetstream.ErrMsgIteratorClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestPadTo(t *testing.T) {
	l := newLog(t)
	if err := eventlog.PadTo(t.Context(), l.Log, 5); err != nil {
		t.Fatal(err)
	}
	facts, _ := l.readAll(t)
	if len(facts) != 5 || facts[4].Kind != eventlog.FactCommand || facts[4].Name != eventlog.CommandPad {
		t.Errorf("got %v, want 5 pads", facts)
	}
}

// storedAnswers are answers that are found by polling.
type storedAnswers struct {
	answer     eventlog.Answer
	checkpoint uint64
}

func (s storedAnswers) Answer(context.Context, uint64) (eventlog.Answer, uint64, error) {
	return s.answer, s.checkpoint, nil
}

func (l logEnv) commander(t testing.TB, answers eventlog.Answers) *eventlog.Commander {
	t.Helper()
	c, err := eventlog.NewCommander(eventlog.CommanderConfig{
		Log: l.Log, Answers: answers,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// TestSettle: it returns when a projector has passed a barrier that stands behind
// everything on the log, and says so when that does not happen.
func TestSettle(t *testing.T) {
	l := newLog(t)
	if err := l.appender(t).Append(t.Context(), []errata.Event{event("before")}); err != nil {
		t.Fatal(err)
	}
	c := l.commander(t, storedAnswers{})
	r, err := eventlog.NewReader(t.Context(), l.Log, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	var player sync.WaitGroup
	player.Go(func() {
		for _, kind := range []eventlog.FactKind{eventlog.FactEvents, eventlog.FactCommand, eventlog.FactCommand} {
			f, err := r.Next(t.Context())
			if err != nil || f.Kind != kind || f.Kind == eventlog.FactCommand && f.Name != eventlog.CommandBarrier {
				t.Errorf("on the log: %+v, %v", f, err)
			}
			switch f.Sequence {
			case 2:
				err = eventlog.AnnounceProgress(l.Log, eventlog.Progress{Checkpoint: 2, Answers: map[uint64]eventlog.Answer{2: eventlog.Answer(`{}`)}})
			case 3:
				giveUp()
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
	if err := c.Settle(t.Context()); err != nil {
		t.Error(err)
	}
	err = c.Settle(ctx)
	player.Wait()
	if kind := errata.KindOf(err); kind != errata.KindStoreUnavailable && kind != errata.KindLogUnavailable {
		t.Errorf("never passed: got %v, want store_unavailable, or log_unavailable had the PubAck not come yet", err)
	}
}

// TestCommandAnswered plays the projector: the answer reaches the sender by an
// announcement, or else by polling.
func TestCommandAnswered(t *testing.T) {
	l := newLog(t)
	nobody := l.commander(t, storedAnswers{})
	r, err := eventlog.NewReader(t.Context(), l.Log, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var player sync.WaitGroup
	player.Go(func() {
		f, err := r.Next(t.Context())
		if err != nil || f.Kind != eventlog.FactCommand || f.Name != "greet" || string(f.Data) != `{"name":"Ada"}` {
			t.Errorf("on the log: %+v, %v", f, err)
		}
		err = eventlog.AnnounceProgress(l.Log, eventlog.Progress{
			Checkpoint: f.Sequence, Answers: map[uint64]eventlog.Answer{f.Sequence: eventlog.Answer(`"hello"`)},
		})
		if err != nil {
			t.Error(err)
		}
	})
	answer, err := nobody.Do(t.Context(), "greet", map[string]string{"name": "Ada"})
	player.Wait()
	if err != nil || string(answer) != `"hello"` {
		t.Errorf("announced: %s, %v", answer, err)
	}
	asked := l.commander(t, storedAnswers{answer: json.RawMessage(`"stored"`), checkpoint: 1000})
	if answer, err := asked.Do(t.Context(), "greet", nil); err != nil || string(answer) != `"stored"` {
		t.Errorf("asked: %s, %v", answer, err)
	}
	// Nobody answers the last one; its sender gives up when it is on the log.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	player.Go(func() {
		for range 2 {
			if _, err := r.Next(t.Context()); err != nil {
				t.Error(err)
			}
		}
		cancel()
	})
	_, err = nobody.Do(ctx, "greet", nil)
	player.Wait()
	if kind := errata.KindOf(err); kind != errata.KindStoreUnavailable && kind != errata.KindLogUnavailable {
		t.Errorf("never answered: got %v, want store_unavailable, or log_unavailable had the PubAck not come yet", err)
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{1, 100, 500} {
		b.Run(fmt.Sprintf("events=%d", size), func(b *testing.B) {
			l := newLog(b)
			a := l.appender(b)
			events := make([]errata.Event, size)
			for i := range events {
				events[i] = event(fmt.Sprint(i))
				events[i].Payload = make([]byte, 800)
			}
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := a.Append(context.Background(), events); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
