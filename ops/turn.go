package ops

import "context"

// Turn is had by one at a time.
type Turn chan struct{}

// NewTurn makes one that nobody has.
func NewTurn() Turn { return make(Turn, 1) }

// Try takes the turn unless somebody has it. leave gives it back.
func (t Turn) Try() (leave func(), ok bool) {
	select {
	case t <- struct{}{}:
		return t.leave, true
	default:
		return nil, false
	}
}

// Wait takes the turn when it is free, or returns ctx's error.
func (t Turn) Wait(ctx context.Context) (leave func(), err error) {
	select {
	case t <- struct{}{}:
		return t.leave, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (t Turn) leave() { <-t }
