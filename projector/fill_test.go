package projector

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/errata-log/errata/eventlog"
)

// TestABatchFillsUp: while many facts are behind a batch, the committer gets it when a second is
// over or it has the last fact to fold, and else at once.
func TestABatchFillsUp(t *testing.T) {
	note := func(sequence, pending uint64) eventlog.Fact {
		return eventlog.Fact{Sequence: sequence, Kind: eventlog.FactNote, Pending: pending}
	}
	for _, c := range []struct {
		name  string
		until uint64
		facts []eventlog.Fact
		want  time.Duration
	}{
		{"few facts behind it", 0, []eventlog.Fact{note(1, behindFacts-1)}, 0},
		{"many", 0, []eventlog.Fact{note(1, behindFacts)}, fillPatience},
		{"many, then few", 0, []eventlog.Fact{note(1, behindFacts+1), note(2, behindFacts), note(3, behindFacts-1)}, 0},
		{"a replay", 9, []eventlog.Fact{note(1, 8), note(2, 7)}, fillPatience},
		{"the end of a replay", 9, []eventlog.Fact{note(8, 1000), note(9, 999)}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &Projector{metrics: newMetrics(nil, func() float64 { return 0 })}
				s := &session{
					p: p, committer: &committer{}, window: newWindow(8, 0), until: c.until,
					facts: make(chan eventlog.Fact), batches: make(chan *batch), hurry: make(chan struct{}, 1),
				}
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- s.fold(ctx) }()
				time.Sleep(time.Hour) // reason: the clock of the bubble; the patience of a batch begins with its first fact
				for _, f := range c.facts {
					s.facts <- f
				}
				began := time.Now()
				b := <-s.batches
				if took := time.Since(began); took != c.want || b.last != c.facts[len(c.facts)-1].Sequence {
					t.Errorf("handed over up to %d after %v, want %v", b.last, took, c.want)
				}
				cancel()
				<-done
			})
		})
	}
}
