package projector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
)

// Status is the state of a projector.
type Status struct {
	Checkpoint Checkpoint
	// Lag is how long the oldest known fact that is not in the records yet has
	// waited; 0 when all are.
	Lag time.Duration
	// Working says that the projector carries out a command that may change all records. One
	// statement of such a command may take minutes, and the facts behind it wait.
	Working bool
	// Err is the last error, nil when the projector works again.
	Err error
}

// Status returns the current state.
func (p *Projector) Status() Status {
	s := *p.status.Load()
	s.Lag, s.Working = p.lag(), p.working.Load()
	return s
}

// inTables is the last fact that is in the tables.
func (p *Projector) inTables() uint64 { return p.status.Load().Checkpoint.Sequence }

// lag is how long the oldest fact that is not in the records has waited.
func (p *Projector) lag() time.Duration {
	since := cmp.Or(p.writing.Load(), p.preparing.Load(), p.open.Load())
	if since == 0 {
		return 0
	}
	return max(0, time.Since(time.Unix(0, since)))
}

// tell puts a status in the place of the one before, and wakes those who wait for it.
func (p *Projector) tell(s Status) {
	p.status.Store(&s)
	p.moved.send()
}

// failed puts an error into the status.
func (p *Projector) failed(err error) {
	s := p.Status()
	s.Err = err
	p.tell(s)
}

// Shown is the last fact of which the records may show something: those of the batch that is
// being written count, because whoever reads meanwhile may see them.
func (p *Projector) Shown() uint64 {
	return max(p.front.Load(), p.status.Load().Checkpoint.Sequence)
}

const (
	// endAfter is how long Await waits before it asks whether the log has the fact at all. Most
	// facts are in the records by then. A leader that was just elected needs a moment as well,
	// until it knows of the last facts.
	endAfter = time.Second
	// awaitAgain is how long a caller should wait whose fact is not in the records in time.
	awaitAgain = time.Second
)

// Await returns when the records have the fact with the sequence. Errors: unknown_position
// when the log does not reach that far; store_unavailable when ctx ended before.
func (p *Projector) Await(ctx context.Context, sequence uint64) error {
	soon, cancel := context.WithTimeout(ctx, endAfter)
	defer cancel()
	if p.reached(soon, sequence) {
		return nil
	}
	log, err := eventlog.Inspect(ctx, p.cfg.Log)
	if err == nil && log.Last < sequence {
		return errata.Errorf(errata.KindUnknownPosition, "The log ends at position %d, before %d. That position is of another service, or the log has lost its end since: go on without it.", log.Last, sequence)
	}
	if p.reached(ctx, sequence) {
		return nil
	}
	return &errata.Error{
		Kind: errata.KindStoreUnavailable, RetryAfter: awaitAgain, Err: errors.Join(ctx.Err(), err),
		Message: fmt.Sprintf("The records of this node are made up to position %d of the log, and not yet up to %d; try again shortly, or ask another node.",
			p.Status().Checkpoint.Sequence, sequence),
	}
}

// reached waits until the records have the fact with the sequence. It is false when ctx
// ended before.
func (p *Projector) reached(ctx context.Context, sequence uint64) bool {
	for {
		moved := p.moved.next() // before the look, so that no status is missed
		if p.status.Load().Checkpoint.Sequence >= sequence {
			return true
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return false
		}
	}
}

// broadcast wakes all who wait. The zero broadcast is ready.
type broadcast struct {
	mu     sync.Mutex
	waited chan struct{} // nil while nobody waits
}

// next is closed by the next send.
func (b *broadcast) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waited == nil {
		b.waited = make(chan struct{})
	}
	return b.waited
}

func (b *broadcast) send() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waited != nil {
		close(b.waited)
		b.waited = nil
	}
}
