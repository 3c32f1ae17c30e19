package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	// gatherTime is how long the first event of a batch waits for others.
	gatherTime = 100 * time.Millisecond
	// sendTimeout bounds one try.
	sendTimeout = 15 * time.Second
	// firstBackoff is the wait after the first failure. It doubles with each
	// failure, up to Options.MaxBackoff.
	firstBackoff = 250 * time.Millisecond
	// DefaultMaxBackoff is the default of Options.MaxBackoff.
	DefaultMaxBackoff = 30 * time.Second
	// doubtfulTries is how often a batch is sent on which the service fails. One
	// bad event must not block the events behind it.
	doubtfulTries = 8
	// reportEvery is the shortest time between two reports of dropped events.
	reportEvery = time.Minute
)

// worker is the one goroutine that sends.
type worker struct {
	queue      *queue
	counts     *counts
	transport  Transport
	maxBackoff time.Duration
	onError    func(error)
	// encode makes a message of a report.
	encode func(*Event) (Message, error)

	// hurry has a token when Flush waits; last is closed when the queue gets no
	// more messages.
	hurry, last chan struct{}
	lastReport  time.Time
	reported    uint64 // dropped events that the service knows of
}

// run sends until last is closed and the queue is empty, or until ctx ends; then
// it drops the rest.
func (w *worker) run(ctx context.Context) {
	for {
		batch, more := w.next(ctx)
		if len(batch) > 0 {
			w.deliver(ctx, batch)
			w.queue.finish(len(batch))
		}
		if ctx.Err() != nil {
			w.counts.drop(DroppedClosed, w.queue.size())
			w.queue.finish(w.queue.size())
			return
		}
		if len(batch) > 0 && time.Since(w.lastReport) >= reportEvery || !more {
			w.report(ctx)
		}
		if !more {
			return
		}
	}
}

// next waits for a batch. more is false for the last one.
func (w *worker) next(ctx context.Context) (batch []Message, more bool) {
	var gathered <-chan time.Time
	for {
		batch, full := w.queue.batch()
		if full {
			return batch, true
		}
		if len(batch) > 0 && gathered == nil {
			gathered = time.After(gatherTime)
		}
		select {
		case <-w.queue.arrived:
			continue
		case <-gathered:
			return batch, true
		case <-w.hurry:
			if batch, _ = w.queue.batch(); len(batch) > 0 {
				return batch, true
			}
		case <-w.last:
			// No more messages come, but there may be more than one batch.
			batch, full = w.queue.batch()
			return batch, full
		case <-ctx.Done():
			return nil, false
		}
	}
}

// deliver sends the batch until all of it is taken, or dropped and counted.
func (w *worker) deliver(ctx context.Context, batch []Message) {
	backoff := firstBackoff
	for try := 1; len(batch) > 0; try++ {
		refused, err := w.send(ctx, batch)
		failure, _ := errors.AsType[*SendError](err)
		if failure != nil && failure.TooLarge && len(batch) > 1 {
			half := len(batch) / 2
			w.deliver(ctx, batch[:half])
			batch, try = batch[half:], 0
			continue
		}
		var after time.Duration
		if err == nil {
			if batch = w.settle(batch, refused); len(batch) == 0 {
				return
			}
		} else if ctx.Err() == nil {
			w.tell(err)
		}
		if failure != nil {
			after = failure.After
			if failure.Final || failure.TooLarge || failure.Doubtful && try >= doubtfulTries {
				w.counts.drop(DroppedRefused, len(batch))
				return
			}
		}
		wait := max(after, backoff/2+rand.N(backoff/2)) //nolint:gosec // it only keeps senders apart
		backoff = min(2*backoff, w.maxBackoff)
		select {
		case <-time.After(wait):
			w.counts.add(&w.counts.Retries, 1)
		case <-ctx.Done():
			w.counts.drop(DroppedClosed, len(batch))
			return
		}
	}
}

// send is one try. A transport that panics has failed.
func (w *worker) send(ctx context.Context, batch []Message) (refused []Refusal, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &SendError{Err: fmt.Errorf("the transport panicked: %v", p), Doubtful: true}
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	return w.transport.Send(ctx, batch)
}

// settle counts the messages that were taken or refused for good, and returns the
// rest.
func (w *worker) settle(batch []Message, refused []Refusal) (again []Message) {
	lost := 0
	for _, r := range refused {
		switch {
		case r.Index < 0 || r.Index >= len(batch):
			continue
		case r.Passing:
			again = append(again, batch[r.Index])
		default:
			lost++
		}
		w.tell(fmt.Errorf("event %s was refused: %s", batch[r.Index].ID, r.Reason))
	}
	w.counts.drop(DroppedRefused, lost)
	w.counts.add(&w.counts.Sent, len(batch)-len(again)-lost)
	return again
}

// report sends the number of dropped events since the last report, as an event. If
// that fails, the next report has these events too.
func (w *worker) report(ctx context.Context) {
	stats := w.counts.copy()
	n := stats.Lost() - w.reported
	if n == 0 || ctx.Err() != nil {
		return
	}
	w.lastReport = time.Now()
	message, err := w.encode(&Event{
		ID: newID(), Time: w.lastReport.UTC(), Type: "system", Level: LevelWarning,
		Message:  fmt.Sprintf("%d errors were dropped before they were sent", n),
		Template: "%d errors were dropped before they were sent",
		Extra:    map[string]any{"dropped_since_start": stats.Dropped},
	})
	if err != nil {
		return
	}
	refused, err := w.send(ctx, []Message{message})
	if err != nil {
		w.tell(err)
	} else if len(refused) == 0 {
		w.reported += n
	}
}

// tell passes an error to the application, whose OnError may panic.
func (w *worker) tell(err error) {
	defer func() { _ = recover() }()
	if w.onError != nil {
		w.onError(err)
	}
}
