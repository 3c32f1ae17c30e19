package legacy

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/errata-log/errata/eventlog"
)

// stream imports one file from its mark to its end: one goroutine cuts the file
// into batches, workers make sealed blocks of them, and put gets the blocks in
// the order of the file, each with the mark behind it. Batches are reused, so
// that memory does not grow with the file.
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

// errEnough ends cutting because nothing uses the batches any more.
var errEnough = errors.New("no more batches are wanted")

// cut fills free batches, and sends each to the workers and to putAll.
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
		last := b.last // read before another goroutine gets the batch
		work <- b      // both channels have room for all batches
		inOrder <- b
		if last {
			return nil
		}
	}
}

// putAll waits for the batches in order and calls put with their blocks. The marks
// of these count from the beginning of the file.
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
