package background

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// cleanup undoes one step of the start. It must return when ctx ends.
type cleanup struct {
	name string
	undo func(ctx context.Context) error
}

// Cleanups undo a start in reverse order. Each part adds its cleanup as soon as it
// exists, so that a start that fails half-way is undone like a complete one. One goroutine
// uses them.
type Cleanups struct {
	logger *slog.Logger
	steps  []cleanup
}

// NewCleanups has no steps yet. Steps that end well are logged for debugging.
func NewCleanups(logger *slog.Logger) Cleanups { return Cleanups{logger: logger} }

// Add adds a step that undoes one part of the start. It must return when ctx ends.
func (c *Cleanups) Add(name string, undo func(ctx context.Context) error) {
	c.steps = append(c.steps, cleanup{name, undo})
}

// AddPlain adds a step that cannot wait and cannot fail.
func (c *Cleanups) AddPlain(name string, undo func()) {
	c.Add(name, func(context.Context) error { undo(); return nil })
}

// Run undoes all steps, last first, and returns their errors with their names. An
// error does not end it. It does not wait for a step that runs longer than ctx, so
// that one stuck part does not prevent the others from being closed.
func (c *Cleanups) Run(ctx context.Context) error {
	var failed []error
	for _, step := range slices.Backward(c.steps) {
		began := time.Now()
		if err := runStep(ctx, step); err != nil {
			failed = append(failed, fmt.Errorf("stop %s: %w", step.name, err))
			continue
		}
		c.logger.Debug("stopped", "part", step.name, "took", time.Since(began))
	}
	c.steps = nil
	return errors.Join(failed...)
}

// lastCall is the time for a step whose turn comes after ctx has ended: enough to
// close a file or a socket.
const lastCall = 250 * time.Millisecond

func runStep(ctx context.Context, step cleanup) error {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastCall)
		defer cancel()
	}
	done := make(chan error, 1) // with room for the answer when nobody waits any more
	go func() { done <- step.undo(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	// A step that ends because of ctx gets a moment to return its error.
	select {
	case err := <-done:
		return err
	case <-time.After(lastCall):
		return fmt.Errorf("still running after its time: %w", context.Cause(ctx))
	}
}
