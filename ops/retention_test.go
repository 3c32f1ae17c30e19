package ops

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/test/testenv"
)

// askedLog counts how often somebody opens a stream.
type askedLog struct {
	jetstream.JetStream
	asked int
}

func (l *askedLog) Stream(ctx context.Context, name string) (jetstream.Stream, error) {
	l.asked++
	return l.JetStream.Stream(ctx, name)
}

// snapshots is a projector that has folded everything.
type snapshots struct{ keep []uint64 }

func (s *snapshots) Do(_ context.Context, _ string, body any) (eventlog.Answer, error) {
	keep := body.(eventlog.Snapshot).Keep // Retention sends nothing else
	s.keep = append(s.keep, keep)
	return json.Marshal(eventlog.SnapshotTaken{Sequence: keep})
}

// While nothing is folded the log is not asked for its size again. An erasure cuts it all the same.
func TestRetentionOfAnIdleLog(t *testing.T) {
	broker := testenv.NewBroker(t)
	log := &askedLog{JetStream: broker.JetStream}
	taken, folded := &snapshots{}, uint64(3)
	stream, prefix := migrations.StreamName(broker.Namespace), migrations.SubjectPrefix(broker.Namespace)
	r := &Retention{cfg: RetentionConfig{
		Log: eventlog.Log{NATS: broker.NATS, JetStream: log, Stream: stream, Prefix: prefix},
		Up:  func() bool { return true }, Commander: taken, History: NewTurn(), Logger: slog.New(slog.DiscardHandler),
		Projection: func() projector.Status {
			return projector.Status{Checkpoint: projector.Checkpoint{Sequence: folded}}
		},
	}}
	for range 3 {
		if _, err := broker.JetStream.Publish(t.Context(), prefix+"ev.0", []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	look := func(want int) {
		t.Helper()
		if err := r.look(t.Context()); err != nil || log.asked != want {
			t.Errorf("the log was asked %d times, %v, want %d", log.asked, err, want)
		}
	}
	look(1)
	look(1)
	folded++
	look(2)
	look(2)
	if err := r.Renew(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	state, err := eventlog.Inspect(t.Context(), r.cfg.Log)
	if err != nil {
		t.Fatal(err)
	}
	if state.First != 3 || !slices.Equal(taken.keep, []uint64{3}) {
		t.Errorf("the log begins at %d behind the snapshots %v, want both at 3", state.First, taken.keep)
	}
}
