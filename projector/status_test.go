package projector_test

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/projector"
)

// written appends an event and returns its place on the log.
func (l *ledger) written(id string) uint64 {
	l.t.Helper()
	ctx, written := errata.WithWritten(l.t.Context())
	if err := l.appender.Append(ctx, []errata.Event{event("broke", id)}); err != nil {
		l.t.Fatal(err)
	}
	return written.Last()
}

// TestAwaitAFact: a wait ends when the fact is in the records, however late, and the records
// never show more than they say.
func TestAwaitAFact(t *testing.T) {
	l := newLedger(t)
	p, err := projector.New(t.Context(), l.config())
	if err != nil {
		t.Fatal(err)
	}
	first := l.written("a")
	if p.Shown() >= first {
		t.Fatalf("it shows %d, and nothing folds the log", p.Shown())
	}
	late, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err = p.Await(late, first)
	if errata.KindOf(err) != errata.KindStoreUnavailable || !strings.Contains(err.Error(), "up to position 0") {
		t.Errorf("while nothing folds the log: %v, want store_unavailable with the position", err)
	}
	waited := make(chan error, 1)
	go func() { waited <- p.Await(t.Context(), first) }()
	p.Start()
	t.Cleanup(func() { _ = p.Stop(context.WithoutCancel(t.Context())) })
	if err := <-waited; err != nil {
		t.Fatal(err)
	}
	if cp := l.checkpoint(p); cp.Sequence < first {
		t.Errorf("the wait for %d ended at the checkpoint %d", first, cp.Sequence)
	}
	second := l.written("b")
	if err := p.Await(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if p.Shown() < second {
		t.Errorf("it shows %d, and %d is in the records", p.Shown(), second)
	}
	if err := p.Await(t.Context(), second+1); errata.KindOf(err) != errata.KindUnknownPosition {
		t.Errorf("a fact that the log does not have: %v, want unknown_position", err)
	}
}

// TestShownCoversWhatReadersSee: rows can be read before the projector knows that they are
// there, and whoever reads them is told a position that has them.
func TestShownCoversWhatReadersSee(t *testing.T) {
	l := newLedger(t)
	p, _ := l.start()
	ctx, cancel := context.WithCancel(t.Context())
	var reader sync.WaitGroup
	reader.Go(func() {
		for ctx.Err() == nil {
			seen, err := p.Store().Sequence(ctx)
			if shown := p.Shown(); err == nil && shown < seen {
				t.Errorf("a reader sees fact %d, and is told %d", seen, shown)
				return
			}
		}
	})
	defer reader.Wait()
	defer cancel()
	for i := range 20 {
		if err := p.Await(t.Context(), l.written(strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
}
