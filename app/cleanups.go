package app

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

// cleanups undo the start in reverse order. A step is added the moment its
// thing exists, so that a start that fails half-way is undone like a whole one.
type cleanups struct {
	logger *slog.Logger
	steps  []cleanup
}

func (c *cleanups) add(name string, undo func(ctx context.Context) error) {
	c.steps = append(c.steps, cleanup{name, undo})
}

// addPlain adds a step that cannot wait and cannot fail.
func (c *cleanups) addPlain(name string, undo func()) {
	c.add(name, func(context.Context) error { undo(); return nil })
}

// run undoes all steps, last first, whatever each of them answers, and
// returns their errors with their names. A step that outlives ctx is left
// behind, so that one stuck part cannot keep the others from being closed.
func (c *cleanups) run(ctx context.Context) error {
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

// lastCall is what a step gets when the time is up before its turn: enough
// to close a file or a socket, and no more.
const lastCall = 250 * time.Millisecond

func runStep(ctx context.Context, step cleanup) error {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastCall)
		defer cancel()
	}
	done := make(chan error, 1) // one answer, also when nobody waits any more
	go func() { done <- step.undo(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	// A step that ends because of ctx gets the moment to say so.
	select {
	case err := <-done:
		return err
	case <-time.After(lastCall):
		return fmt.Errorf("still running after its time: %w", context.Cause(ctx))
	}
}
