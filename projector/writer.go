package projector

import (
	"context"
	"fmt"
	"time"

	"github.com/errata-log/errata/eventlog"
)

// handOver begins the step of a batch and hands it over to the writer, behind those before it.
// It returns when the step is in the tables. When the batch is followed by another one, the step
// may still be on its way: while its records are written, the next batch is prepared. Or it
// waits, so that the changes of that batch join it.
func (c *committer) handOver(ctx context.Context, s *step, followed bool) error {
	if c.waiting != nil && s.work.decide != nil { // what that reads of the tables must be there
		if err := c.awaitWriter(ctx); err != nil {
			return err
		}
	}
	batch := s.work
	s = c.waiting.join(s)
	c.waiting = nil // after an error the session begins again
	if followed {
		s.indexed()
	}
	waits := followed && s.grows() && time.Since(s.began) < maxStepTime
	sums := s.work
	if waits {
		sums = nil
	}
	if err := c.begin(ctx, batch, sums); err != nil {
		return err
	}
	s.work.to = batch.to
	s.release()
	if waits {
		c.waiting = s
		return nil
	}
	s.releaseSums()
	if err := c.send(ctx, s); err != nil || followed {
		return err
	}
	return c.awaitWriter(ctx)
}

// handedOver is the checkpoint behind all steps that the writer has got.
func (c *committer) handedOver() Checkpoint {
	if c.waiting != nil {
		return c.waiting.work.from
	}
	return c.cp
}

// send hands a step over to the writer.
func (c *committer) send(ctx context.Context, s *step) error {
	s.inserted = inserted{after: s.work.from.Row, done: make(chan struct{})}
	select {
	case c.steps <- s:
		c.last = s
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// writing says whether a step is being written.
func (c *committer) writing() bool {
	if c.last == nil {
		return false
	}
	select {
	case <-c.last.done:
		c.last = nil // it holds the memory of a batch
		return false
	default:
		return true
	}
}

// stepPatience is how long a step waits for the next batch, which fills up first as long as the
// log has more.
const stepPatience = fillPatience

// late tells when a step has waited for too long, nil when none waits.
func (c *committer) late() <-chan time.Time {
	if c.waiting == nil {
		return nil
	}
	return time.After(stepPatience)
}

// flush hands over a step that waits for another batch.
func (c *committer) flush(ctx context.Context) error {
	s := c.waiting
	if c.waiting = nil; s == nil {
		return nil
	}
	if err := c.sumUp(ctx, s.work.changes, s.work.to.Sequence); err != nil {
		return err
	}
	if err := c.awaitBeside(ctx); err != nil {
		return err
	}
	s.releaseSums()
	return c.send(ctx, s)
}

// awaitWriter returns when all steps are in the tables.
func (c *committer) awaitWriter(ctx context.Context) error {
	if err := c.flush(ctx); err != nil {
		return err
	}
	if c.last == nil {
		return nil
	}
	select {
	case <-c.last.done:
		c.last = nil
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
			c.p.writing.Store(s.since.UnixNano())
			if err := c.write(ctx, s.work); err != nil {
				return fmt.Errorf("write the records of facts up to %d: %w", s.last, err)
			}
			c.p.committed(&s.folded, s.work, time.Since(s.began))
			close(s.done)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// committed announces how far the projection has come.
func (p *Projector) committed(f *folded, work *commit, took time.Duration) {
	p.tell(Status{Checkpoint: work.to})
	p.writing.Store(0)
	p.preparing.CompareAndSwap(f.since.UnixNano(), 0) // else it is of the next batch already
	p.metrics.committed(f, work, took)
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
