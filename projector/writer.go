package projector

import (
	"context"
	"fmt"
	"time"

	"github.com/errata-log/errata/eventlog"
)

// step is a batch whose records are to be written. All that must be in the tables before them
// is there.
type step struct {
	work  *commit
	batch *batch
	began time.Time
	inserted
}

// inserted says when a step is in the tables: then done is closed.
type inserted struct {
	after uint64 // the row of the checkpoint before it
	done  chan struct{}
}

// handOver begins the step and hands it over to the writer, behind those before it. It returns
// when the step is in the tables; that of a full batch may still be on its way: while its
// records are written, the next batch is prepared.
func (c *committer) handOver(ctx context.Context, s *step) error {
	if err := c.begin(ctx, s.work); err != nil {
		return err
	}
	s.inserted = inserted{after: s.work.from.Row, done: make(chan struct{})}
	select {
	case c.steps <- s:
		c.last = s.inserted
	case <-ctx.Done():
		return ctx.Err()
	}
	if s.batch.full() {
		return nil
	}
	return c.awaitWriter(ctx)
}

// writing says whether a step is being written.
func (c *committer) writing() bool {
	if c.last.done == nil {
		return false
	}
	select {
	case <-c.last.done:
		return false
	default:
		return true
	}
}

// awaitWriter waits until all steps are in the tables.
func (c *committer) awaitWriter(ctx context.Context) error {
	if c.last.done == nil {
		return nil
	}
	select {
	case <-c.last.done:
		return nil
	case <-ctx.Done(): // also when the writer has ended with an error
		return ctx.Err()
	}
}

// writeSteps is the writer: it writes one step after another until ctx ends, or an error.
func (c *committer) writeSteps(ctx context.Context) error {
	for {
		select {
		case s := <-c.steps:
			c.p.writing.Store(s.batch.since.UnixNano())
			if err := c.write(ctx, s.work); err != nil {
				return fmt.Errorf("write the records of facts up to %d: %w", s.batch.last, err)
			}
			c.p.committed(s.batch, s.work, time.Since(s.began))
			close(s.done)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// committed announces how far the projection has come.
func (p *Projector) committed(b *batch, work *commit, took time.Duration) {
	p.tell(Status{Checkpoint: work.to})
	p.writing.Store(0)
	p.preparing.CompareAndSwap(b.since.UnixNano(), 0) // else it is of the next batch already
	p.metrics.committed(b, work, took)
	if p.cfg.Quiet {
		return
	}
	progress := eventlog.Progress{Checkpoint: work.to.Sequence}
	if work.command != 0 {
		progress.Answers = map[uint64]eventlog.Answer{work.command: work.answer}
	}
	if err := eventlog.AnnounceProgress(p.cfg.Log, progress); err != nil {
		p.cfg.Logger.Warn("progress was not announced; callers that wait poll for it", "error", err)
	}
}
