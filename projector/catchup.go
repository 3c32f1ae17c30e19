package projector

import (
	"context"
	"errors"
)

// heldBatches is how many full batches are written before the merges go on. A million new records
// take 22 to 34 of them. Each adds a part to a table, and lists and look-ups read all parts. Only tests change
// it.
var heldBatches = 36

// catchUp lets the merges of the tables wait while a session that begins behind writes its
// first full batches. Merges take a third of the processors then, and do more than is needed:
// afterwards the same parts are merged at once.
type catchUp struct {
	merges *Merges // nil when merges do not wait
	// rebuild says that nobody but the fold reads the tables yet: the merges wait also
	// behind the last full batch, and for as long as all sessions of a rebuild.
	rebuild bool
	batches int
	release func(context.Context) error // nil when nothing is held
}

// before is called before each batch. With an error nothing is held.
func (c *catchUp) before(ctx context.Context, b *batch) error {
	if c.merges == nil {
		return nil
	}
	full := b.full() && b.command == nil
	c.batches++
	switch {
	case c.batches > heldBatches, !full && c.release != nil && !c.rebuild, parseCommand(b.command).alone():
		return c.end(ctx) // an erasure waits for a mutation, which waits with the merges
	case !full, c.release != nil: // the very first batch is taken before it is full
		return nil
	}
	var err error
	if c.release, err = c.merges.Hold(ctx, projectionTables...); err != nil {
		return errors.Join(err, c.end(ctx))
	}
	return nil
}

// sessionEnds lets the merges go on, unless other sessions follow.
func (c *catchUp) sessionEnds(ctx context.Context) error {
	if c.rebuild {
		return nil
	}
	return c.end(ctx)
}

// end lets the merges go on, for good.
func (c *catchUp) end(ctx context.Context) error {
	c.merges = nil
	release := c.release
	if c.release = nil; release == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoPatience)
	defer cancel()
	return release(ctx)
}
