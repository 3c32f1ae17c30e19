package projector

import "context"

// chunkSize is about how many records one insert of a command changes that reads
// them into memory.
const chunkSize = 20_000

// chunksOf is how many inserts the changes of so many records take.
func chunksOf(records uint64) int { return int(min(records/chunkSize+1, maxSweepChunks)) }

// chunkWork is a command that changes records of which only the tables know which
// ones they are. A chunk is a range of signatures.
type chunkWork struct {
	// chunks returns how many there are to be.
	chunks func(ctx context.Context) (int, error)
	// changes reads the records of a chunk and changes them.
	changes func(ctx context.Context, c *sweepChunk) ([]change, error)
	// after is called when the changes of a chunk are in the records, perhaps again
	// after a crash; nil for nothing.
	after func(ctx context.Context, c *sweepChunk) error
}

// workInChunks carries out a command chunk by chunk, as sweepAll does: the
// checkpoint says how many chunks are done, so that the command continues after a
// crash, and changes and counts each record once.
func (c *committer) workInChunks(ctx context.Context, cmd *command, before Checkpoint, work chunkWork) (*commit, error) {
	progress := c.cp.Sweep
	if progress.Sequence != cmd.sequence {
		chunks, err := work.chunks(ctx)
		if err != nil {
			return nil, err
		}
		progress = SweepProgress{Sequence: cmd.sequence, Chunks: chunks}
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
		step := &commit{from: c.cp, to: c.cp.next(c.cp.Sequence), changes: changes}
		step.to.Sweep = progress
		if err := c.apply(ctx, step); err != nil {
			return nil, err
		}
	}
}
