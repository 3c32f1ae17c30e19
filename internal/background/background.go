// Package background runs the work that goes on while the service serves: it
// starts and stops goroutines, repeats what they do, and pauses between tries.
//
// It knows nothing of what it runs. It must not recover: a panic in the
// background is a mistake of the program and ends it.
package background

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Runner holds the goroutines of one part of the service together. The zero
// Runner is ready, and safe for concurrent use.
type Runner struct {
	mu    sync.Mutex
	end   context.CancelFunc // nil while nothing was started
	ended chan struct{}      // closed when every part has returned
}

// Start calls each part in a goroutine of its own. A part must return soon
// after its ctx ends, and may return before. While the Runner is started, a
// second call does nothing.
func (r *Runner) Start(parts ...func(ctx context.Context)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.end != nil {
		return
	}
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan struct{})
	r.end, r.ended = end, ended
	var running sync.WaitGroup
	for _, part := range parts {
		running.Go(func() { part(ctx) })
	}
	go func() { // ends with the last part
		running.Wait()
		close(ended)
	}()
}

// Stop ends the parts and waits for them, at most until ctx ends, whose error it
// returns then. It may be called before Start and more than once; after a nil,
// Start starts anew.
func (r *Runner) Stop(ctx context.Context) error {
	r.mu.Lock()
	end, ended := r.end, r.ended
	r.mu.Unlock()
	if end == nil {
		return nil
	}
	end()
	select {
	case <-ended:
	case <-ctx.Done():
		return fmt.Errorf("it still runs: %w", ctx.Err())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended == ended {
		r.end = nil
	}
	return nil
}

// Started says whether Start was called and Stop has not returned nil since.
func (r *Runner) Started() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.end != nil
}

// Loop is work that is done again and again.
type Loop struct {
	// Do does it once. It may take long, such as a connection that is read until
	// it breaks.
	Do func(ctx context.Context) error
	// Every is the pause after a Do that returned nil, and after one that failed
	// where there are no Pauses.
	Every time.Duration
	// Pauses are those after a Do that failed, and where there is no Every.
	Pauses Pauses
	// Now, when it is signalled, ends a pause. nil for never.
	Now <-chan struct{}
	// Reached is how far the work has come, a comparable value. When a Do has
	// changed it and fails, that is the first failure again. nil: only a Do that
	// returns nil ends a row of failures.
	Reached func() any
	// Failed is told of each failure, and how many there were in a row with it;
	// nil for nobody. See [Tell].
	Failed func(err error, row int)
}

// Run repeats the work until ctx ends. What Do returns after that is no failure.
func (l Loop) Run(ctx context.Context) {
	if l.Reached == nil {
		l.Reached = func() any { return nil }
	}
	if l.Failed == nil {
		l.Failed = func(error, int) {}
	}
	tries := l.Pauses.Begin()
	for row := 0; ; {
		before := l.Reached()
		err := l.Do(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil || l.Reached() != before {
			row = 0
			tries.Reset()
		}
		if err != nil {
			row++
			l.Failed(err, row)
		}
		pause := l.Every
		if l.Pauses != (Pauses{}) && (err != nil || pause == 0) {
			pause = tries.next()
		}
		if !wait(ctx, pause, l.Now) {
			return
		}
	}
}

// tellAgain is how often the same failure is logged while it lasts.
const tellAgain = time.Minute

// Tell is a [Loop].Failed that logs a failure when it is the first in a row, when
// it differs from the one before, and once a minute. log is a method such as
// [log/slog.Logger.Warn].
func Tell(log func(message string, args ...any), message string) func(err error, row int) {
	var told string
	var at time.Time
	return func(err error, row int) {
		if text := err.Error(); row == 1 || text != told || time.Since(at) >= tellAgain {
			told, at = text, time.Now()
			log(message, "error", err, "try", row)
		}
	}
}

// Pauses are the pauses between tries: First after the first one, twice as long
// after each other, at most Most; all give or take a fifth, so that nodes which
// failed together do not come back together.
type Pauses struct{ First, Most time.Duration }

// Begin begins a row of tries.
func (p Pauses) Begin() *Tries {
	return &Tries{backoff.ExponentialBackOff{
		InitialInterval: p.First, MaxInterval: p.Most, Multiplier: 2, RandomizationFactor: 0.2,
	}}
}

// Tries is a row of tries. One goroutine uses it.
type Tries struct{ backOff backoff.ExponentialBackOff }

// Wait waits for the next try. It is false when ctx ended first.
func (t *Tries) Wait(ctx context.Context) bool { return Wait(ctx, t.next()) }

// Reset makes the next pause the first again.
func (t *Tries) Reset() { t.backOff.Reset() }

func (t *Tries) next() time.Duration { return t.backOff.NextBackOff() }

// Wait waits so long. It is false when ctx ended first.
func Wait(ctx context.Context, pause time.Duration) bool { return wait(ctx, pause, nil) }

func wait(ctx context.Context, pause time.Duration, now <-chan struct{}) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-now:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
