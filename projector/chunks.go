package projector

import "context"

// chunkSize is about how many records one insert of a command changes that reads
// them into memory.
const chunkSize = 20_000

// chunkWork is a command that changes records of which only the tables know which
// ones they are. A chunk is a range of signatures.
type chunkWork struct {
	// chunks returns how many there are to be.
	chunks func(ctx context.Context) (int, error)
	// before is called before the first chunk, perhaps again after a crash; nil for
	// nothing.
	before func(ctx context.Context) error
	// changes reads the records of a chunk and changes them.
	changes func(ctx context.Context, c *sweepChunk) ([]change, error)
	// after is called when the changes of a chunk are in the records, perhaps again
	// after a crash; nil for nothing.
	after func(ctx context.Context, c *sweepChunk) error
}

// progressOf is how far the command has come: what the checkpoint says after a crash, else
// its beginning.
func (c *committer) progressOf(ctx context.Context, cmd *command, chunks func(context.Context) (int, error)) (SweepProgress, error) {
	if c.cp.Sweep.Sequence == cmd.sequence {
		return c.cp.Sweep, nil
	}
	n, err := chunks(ctx)
	return SweepProgress{Sequence: cmd.sequence, Chunks: n}, err
}

// step commits one chunk, and tells how far the command has come.
func (c *committer) step(ctx context.Context, chunk *commit, progress SweepProgress) error {
	chunk.from, chunk.to = c.cp, c.cp.next(c.cp.Sequence)
	chunk.to.Sweep = progress
	if err := c.apply(ctx, chunk); err != nil {
		return err
	}
	c.p.tell(Status{Checkpoint: chunk.to})
	return nil
}

// workInChunks carries out a command chunk by chunk, as sweepAll does: the
// checkpoint says how many chunks are done, so that the command continues after a
// crash, and changes and counts each record once.
func (c *committer) workInChunks(ctx context.Context, cmd *command, before Checkpoint, work chunkWork) (*commit, error) {
	progress, err := c.progressOf(ctx, cmd, work.chunks)
	if err != nil {
		return nil, err
	}
	if progress.Done == 0 && work.before != nil {
		if err := work.before(ctx); err != nil {
			return nil, err
		}
	}
	for {
		if progress.Done > 0 && work.after != nil {
			if err := work.after(ctx, sweep{}.chunk(progress.Done-1, progress.Chunks)); err != nil {
				return nil, err
			}
		}
		if progress.Done == progress.Chunks {
			return c.finish(ctx, cmd, before, nil, progress.Removed)
		}
		changes, err := work.changes(ctx, sweep{}.chunk(progress.Done, progress.Chunks))
		if err != nil {
			return nil, err
		}
		for i := range changes {
			progress.Removed.Add(changes[i].key.book, 1)
		}
		progress.Done++
		if err := c.step(ctx, &commit{changes: changes}, progress); err != nil {
			return nil, err
		}
	}
}
