package eventlog_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/migrations"
)

// TestTakeBlocks takes all blocks of another node, also odd ones, each once,
// although the reader is killed before it has acknowledged any.
func TestTakeBlocks(t *testing.T) {
	l := newLog(t)
	queue := l.queue(t)
	now := event("").Received
	ahead := event("ahead")
	ahead.Received, ahead.Time = now.Add(48*time.Hour), now.Add(47*time.Hour)
	future, err := eventlog.EncodeBlock([]errata.Event{ahead, event("beside")})
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range [][]byte{sealed(t, "a"), []byte("nonsense"), future, sealed(t, "b")} {
		if _, err := l.Broker.JetStream.Publish(t.Context(), l.Namespace+".spool", block); err != nil {
			t.Fatal(err)
		}
	}
	config := eventlog.DrainConfig{
		Log: l.Log, JetStream: l.Broker.JetStream, Stream: queue, Name: "leaf-x", Reader: "hub",
		Take: eventlog.TakeBlocks(func() time.Time { return now }),
	}
	killed, kill := context.WithCancel(t.Context())
	first := eventlog.NewDrain(config)
	first.AckWith(func(jetstream.Msg) error { kill(); return context.Canceled })
	first.Run(killed)

	ended, end := context.WithCancel(t.Context())
	repeats := 0
	config.Took = func(_, repeated int, pending uint64) {
		if repeats += repeated; pending == 0 {
			end()
		}
	}
	eventlog.NewDrain(config).Run(ended)
	if repeats != 4 {
		t.Errorf("%d messages came again, want all 4", repeats)
	}
	facts := l.facts(t)
	if len(facts) != 4 || string(facts[0].Data) != string(sealed(t, "a")) || string(facts[1].Data) != "nonsense" || string(facts[3].Data) != string(sealed(t, "b")) {
		t.Fatalf("the log has %d facts, want the four blocks, each once", len(facts))
	}
	block, err := eventlog.DecodeBlock(facts[2].Data, nil)
	if err != nil || block.Received != now.UnixMilli() || block.Len() != 2 {
		t.Fatalf("the block from the future has %d events of %d, error %v", block.Len(), block.Received, err)
	}
	block.Entries(func(i int, e eventlog.Entry) {
		if e.Received != now.UnixMilli() || e.Time != now.UnixMilli() {
			t.Errorf("event %d is of %d, received %d, want %d", i, e.Time, e.Received, now.UnixMilli())
		}
	})
}

// queue makes a work queue and returns its name.
func (l logEnv) queue(t *testing.T) string {
	t.Helper()
	name := "SPOOL_" + l.Namespace
	if _, err := l.Broker.JetStream.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: name, Subjects: []string{l.Namespace + ".spool"}, Retention: jetstream.WorkQueuePolicy,
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Broker.JetStream.DeleteStream(context.WithoutCancel(t.Context()), name) })
	return name
}

// facts reads all facts of the log, which must have one at least.
func (l logEnv) facts(t *testing.T) []eventlog.Fact {
	t.Helper()
	var facts []eventlog.Fact
	r, err := eventlog.NewReader(t.Context(), l.Log, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for pending := uint64(1); pending > 0; {
		fact, err := r.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		facts, pending = append(facts, fact), fact.Pending
	}
	return facts
}

// A block was on the log when the reader was killed, and was purged before the
// queue was in reach again. It does not get onto the log twice.
func TestMarkOutlivesThePurge(t *testing.T) {
	l := newLog(t)
	queue := l.queue(t)
	kept, err := l.Broker.JetStream.KeyValue(t.Context(), migrations.ImportsBucket(l.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	config := eventlog.DrainConfig{
		Log: l.Log, JetStream: l.Broker.JetStream, Stream: queue, Name: "leaf-x", Reader: "hub", Kept: kept,
		Take: eventlog.TakeBlocks(time.Now),
	}
	if _, err := l.Broker.JetStream.Publish(t.Context(), l.Namespace+".spool", sealed(t, "a")); err != nil {
		t.Fatal(err)
	}
	killed, kill := context.WithCancel(t.Context())
	first := eventlog.NewDrain(config)
	first.AckWith(func(jetstream.Msg) error { kill(); return context.Canceled })
	first.Run(killed)
	if err := eventlog.KeepSourceMarks(t.Context(), l.Log, kept); err != nil {
		t.Fatal(err)
	}
	purge(t, l, 2)
	if _, err := l.Broker.JetStream.Publish(t.Context(), l.Namespace+".spool", sealed(t, "b")); err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	fresh := 0
	config.Took = func(took, _ int, pending uint64) {
		if fresh += took; pending == 0 {
			end()
		}
	}
	eventlog.NewDrain(config).Run(ended)
	state, err := eventlog.Inspect(t.Context(), l.Log)
	if err != nil || fresh != 1 || state.First != 2 || state.Last != 2 {
		t.Errorf("%d blocks were taken and the log reaches from %d to %d, error %v; want the second block alone", fresh, state.First, state.Last, err)
	}
}
