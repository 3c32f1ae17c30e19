package legacy

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/errata-log/errata/eventlog"
)

// stream takes one file from its mark to its end: one goroutine cuts it into
// batches, workers turn those into sealed blocks, and put is called with the
// blocks in the order of the file, each with the position behind it. Batches
// are reused, so memory does not grow with the file.
func stream(ctx context.Context, from io.Reader, mark eventlog.ImportMark, c *converter, put func(context.Context, block) error) error {
	ctx, cancel := context.WithCancel(ctx)
	free := make(chan *batch, inFlight)
	for range inFlight {
		free <- newBatch()
	}
	work := make(chan *batch, inFlight)
	inOrder := make(chan *batch, inFlight)
	var running sync.WaitGroup
	var readErr error
	running.Go(func() { // ends with the file, or with ctx
		defer close(work)
		defer close(inOrder)
		readErr = cut(ctx, newFramer(from, mark.Offset), free, work, inOrder)
	})
	for range workers {
		running.Go(func() { // ends when work is closed
			var scratch eventlog.ImportBlock
			for b := range work {
				c.convert(b, &scratch)
				b.ready <- struct{}{}
			}
		})
	}
	err := putAll(ctx, inOrder, free, mark, put)
	cancel()
	running.Wait()
	if err == nil && !errors.Is(readErr, errEnough) {
		err = readErr
	}
	return err
}

// errEnough ends cutting because nobody takes batches any more.
var errEnough = errors.New("no more batches are wanted")

// cut fills free batches and hands each to the workers and to whoever takes
// them in order.
func cut(ctx context.Context, f *framer, free, work, inOrder chan *batch) error {
	for {
		var b *batch
		select {
		case b = <-free:
		case <-ctx.Done():
			return errEnough
		}
		b.reset()
		if err := f.fill(b); err != nil {
			return err
		}
		last := b.last // the batch belongs to others from here on
		work <- b      // these have room for all batches there are
		inOrder <- b
		if last {
			return nil
		}
	}
}

// putAll waits for the batches in order and puts their blocks, with marks that
// count from the beginning of the file.
func putAll(ctx context.Context, inOrder <-chan *batch, free chan<- *batch, base eventlog.ImportMark, put func(context.Context, block) error) error {
	for b := range inOrder {
		<-b.ready
		reached := base
		for _, part := range b.blocks {
			reached = base
			reached.Offset, reached.Done = part.mark.Offset, part.mark.Done
			reached.Lines += part.mark.Lines
			reached.Events += part.mark.Events
			reached.Unreadable += part.mark.Unreadable
			if err := put(ctx, block{data: part.data, mark: reached, firstUnreadable: base.Lines + b.firstUnreadable}); err != nil {
				return err
			}
		}
		base = reached
		free <- b
	}
	return context.Cause(ctx)
}
