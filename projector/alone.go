package projector

import (
	"context"
	"fmt"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// workAlone carries out a command that works on the tables themselves. All facts
// before it are in the tables; before is the checkpoint there. It returns the last
// step, which it has applied.
func (c *committer) workAlone(ctx context.Context, cmd *command, before Checkpoint) (*commit, error) {
	c.p.working.Store(true)
	defer c.p.working.Store(false)
	switch {
	case cmd.snapshot == nil && c.cp.Row == 0:
		// Nothing has been written yet, neither a record to be changed nor the row
		// of the checkpoint that a chunk's insert begins with.
		return c.finish(ctx, cmd, before, nil, errata.Changed{})
	case cmd.sweep != nil:
		return c.sweepAll(ctx, cmd, before)
	case cmd.erasure != nil:
		return c.workInChunks(ctx, cmd, before, c.p.store.erasing(cmd))
	case cmd.matching != nil:
		return c.workInChunks(ctx, cmd, before, c.p.store.changing(cmd))
	case cmd.expiry != nil:
		if err := c.p.store.expireOccurrences(ctx, cmd.expiry, cmd.position()); err != nil {
			return nil, err
		}
		return c.finish(ctx, cmd, before, nil, errata.Changed{})
	}
	answer := eventlog.SnapshotTaken{Sequence: cmd.sequence - 1}
	if !c.p.cfg.Quiet {
		if err := c.p.keepLatest(ctx, cmd.snapshot.Keep, c.totals.records()); err != nil {
			return nil, fmt.Errorf("keep the contexts of latest events: %w", err)
		}
		if err := c.p.store.takeSnapshot(ctx); err != nil {
			return nil, fmt.Errorf("take a snapshot: %w", err)
		}
	}
	return c.finish(ctx, cmd, before, nil, answer)
}

// finish is the last step of a command: the checkpoint passes its sequence, and its
// answer is stored. before has the window of event ids, which a snapshot changes.
func (c *committer) finish(ctx context.Context, cmd *command, before Checkpoint, sweep *sweepChunk, answer any) (*commit, error) {
	work := &commit{
		from: c.cp, to: c.cp.next(cmd.sequence), sweep: sweep,
		command: cmd.sequence, answer: encodeAnswer(answer),
	}
	work.to.WindowFrom, work.to.WindowTime = before.WindowFrom, before.WindowTime
	return work, c.apply(ctx, work)
}

// sweepAll removes the records of a cleanup, chunk by chunk. The checkpoint says
// how many chunks are done, so that the cleanup continues after a crash and the
// answer counts each record once.
func (c *committer) sweepAll(ctx context.Context, cmd *command, before Checkpoint) (*commit, error) {
	progress, err := c.progressOf(ctx, cmd, func(ctx context.Context) (int, error) { return c.p.store.sweepChunks(ctx, *cmd.sweep) })
	if err != nil {
		return nil, err
	}
	for {
		if progress.Done == 0 {
			if err = c.p.store.sweepContexts(ctx, cmd.sweep.chunk(0, 1), cmd.sequence); err != nil {
				return nil, err
			}
			if err = c.p.store.sweepDeployments(ctx, cmd.sweep.chunk(0, 1), cmd.sequence); err != nil {
				return nil, err
			}
		}
		chunk := cmd.sweep.chunk(progress.Done, progress.Chunks)
		if chunk.takes, err = c.p.store.sweepCount(ctx, chunk); err != nil {
			return nil, err
		}
		progress.Removed.System += chunk.takes.System.Records
		progress.Removed.Database += chunk.takes.Database.Records
		progress.Done++
		if progress.Done == progress.Chunks {
			return c.finish(ctx, cmd, before, chunk, progress.Removed)
		}
		if err := c.step(ctx, &commit{sweep: chunk}, progress); err != nil {
			return nil, err
		}
	}
}
