package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// TestChangesReader: it leaves out blocks of events, returns commands with their
// actors, and reports that the log was purged.
func TestChangesReader(t *testing.T) {
	l := newLog(t)
	if last, err := eventlog.LastChange(t.Context(), l.Log); err != nil || last != 0 {
		t.Fatalf("an empty log has its last change at %d, %v", last, err)
	}
	a, c := l.appender(t), l.commander(t, storedAnswers{answer: eventlog.Answer("1"), checkpoint: 1000})
	by := errata.Actor{KeyID: "000000000007", KeyName: "ada", IP: "192.0.2.1", Route: "POST /x", Scope: "X/Y", RequestID: "r1"}
	for i := range 3 {
		if err := a.Append(t.Context(), []errata.Event{event(fmt.Sprint(i))}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Do(errata.WithActor(t.Context(), by), fmt.Sprint("greet", i), i); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Append(t.Context(), []errata.Event{event("last")}); err != nil {
		t.Fatal(err)
	}
	if last, err := eventlog.LastChange(t.Context(), l.Log); err != nil || last != 6 {
		t.Errorf("the last change is at %d, %v, want 6", last, err)
	}
	for _, c := range []struct {
		after, upto uint64
		most        int
		want        []uint64
		at          uint64
	}{
		{0, 7, 9, []uint64{2, 4, 6}, 7}, {2, 6, 9, []uint64{4, 6}, 6}, {2, 5, 9, []uint64{4}, 5}, {0, 7, 2, []uint64{2, 4}, 4},
		{6, 7, 9, nil, 7}, {7, 7, 9, nil, 7}, {0, 6, 3, []uint64{2, 4, 6}, 6},
	} {
		list, at, err := eventlog.CommandsBetween(t.Context(), l.Log, c.after, c.upto, c.most)
		var got []uint64
		for _, f := range list {
			got = append(got, f.Sequence)
			if f.Kind != eventlog.FactCommand || f.Name != fmt.Sprint("greet", f.Sequence/2-1) || f.By != by {
				t.Errorf("read %+v", f)
			}
		}
		if err != nil || at != c.at || !slices.Equal(got, c.want) {
			t.Errorf("after %d up to %d: %v up to %d, %v, want %v up to %d", c.after, c.upto, got, at, err, c.want, c.at)
		}
	}
	r, err := eventlog.NewChangesReader(t.Context(), l.Log, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := 1; i < 3; i++ {
		f, err := r.Next(t.Context())
		if err != nil || f.Kind != eventlog.FactCommand || f.Name != fmt.Sprint("greet", i) || f.Sequence != uint64(2*i+2) || f.By != by {
			t.Errorf("read %+v, %v, want greet%d by %+v", f, err, i, by)
		}
	}
	purge(t, l, 5)
	if _, err := eventlog.NewChangesReader(t.Context(), l.Log, 3); !errors.Is(err, eventlog.ErrLogPurged) {
		t.Errorf("from before the beginning: %v", err)
	}
}

func purge(t *testing.T, l logEnv, before uint64) {
	t.Helper()
	s, err := l.Log.JetStream.Stream(t.Context(), l.Stream)
	if err == nil {
		err = s.Purge(context.WithoutCancel(t.Context()), jetstream.WithPurgeSequence(before))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestFollowProgress: announcements reach followers until they stop.
func TestFollowProgress(t *testing.T) {
	l := newLog(t)
	heard := make(chan uint64, 1)
	stop, err := eventlog.FollowProgress(l.Log, func(p eventlog.Progress) { heard <- p.Checkpoint })
	if err != nil {
		t.Fatal(err)
	}
	if err := eventlog.AnnounceProgress(l.Log, eventlog.Progress{Checkpoint: 7}); err != nil {
		t.Fatal(err)
	}
	if got := <-heard; got != 7 {
		t.Errorf("heard %d, want 7", got)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}
