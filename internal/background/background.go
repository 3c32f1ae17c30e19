// Package background runs the work beside the requests: it starts and stops
// goroutines, repeats what they do, and pauses between tries.
//
// It knows nothing of the work. It must not recover from a panic, which is a mistake of
// the program and ends it.
package background

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Runner starts and stops the goroutines of one part of the service. The zero Runner is
// ready. It is safe for concurrent use.
type Runner struct {
	mu    sync.Mutex
	end   context.CancelFunc // nil while nothing was started
	ended chan struct{}      // closed when every part has returned
}

// Start calls each part in a goroutine of its own. A part must return soon after its
// ctx ends, and may return earlier. A second call before Stop does nothing.
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

// Stop ends the parts and waits for them, at most until ctx ends; then it returns the
// error of ctx. It may be called before Start and more than once. After it has returned
// nil, Start starts the parts again.
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
	// Every is the pause after a Do that returned nil, and without Pauses also after a
	// Do that failed.
	Every time.Duration
	// Pauses are the pauses after a Do that failed, and without Every after each Do.
	Pauses Pauses
	// Now, when it is signalled, ends a pause. nil for never.
	Now <-chan struct{}
	// Reached says how far the work has come, as a comparable value. A Do that fails
	// and has changed it begins a new row of failures. nil: only a Do that returns nil
	// ends a row of failures.
	Reached func() any
	// Failed gets each error and its number in the row of failures, from 1 on. nil for
	// none. See [Tell].
	Failed func(err error, row int)
}

// Run repeats the work until ctx ends. An error that Do returns after that is ignored.
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
		pause := together(time.Now(), l.Every)
		if l.Pauses != (Pauses{}) && (err != nil || pause == 0) {
			pause = tries.next()
		}
		if !wait(ctx, pause, l.Now) {
			return
		}
	}
}

// tellAgain is the pause between two log lines of the same failure.
const tellAgain = time.Minute

// Tell is a [Loop].Failed that logs the first failure of a row, one that differs from
// the one before, and else one a minute. log is a method such as
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

// Pauses are the pauses between tries: First after the first try, then twice the pause
// before, at most Most. Each varies by a fifth at random, so that nodes which fail
// together do not retry together.
type Pauses struct{ First, Most time.Duration }

// Begin begins a row of tries.
func (p Pauses) Begin() *Tries {
	return &Tries{backoff.ExponentialBackOff{
		InitialInterval: p.First, MaxInterval: p.Most, Multiplier: 2, RandomizationFactor: 0.2,
	}}
}

// Tries is a row of tries, for one goroutine.
type Tries struct{ backOff backoff.ExponentialBackOff }

// Wait waits for the next try. It returns false when ctx ends first.
func (t *Tries) Wait(ctx context.Context) bool { return Wait(ctx, t.next()) }

// Reset makes the next pause the first again.
func (t *Tries) Reset() { t.backOff.Reset() }

func (t *Tries) next() time.Duration { return t.backOff.NextBackOff() }

// Wait waits for the pause. It returns false when ctx ends first.
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
