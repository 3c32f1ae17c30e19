package ops

import (
	"context"
	"fmt"
	"sync"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
)

// readyLag is how far the list may be behind the log of a service that is
// ready. Half the maximum load stays below one second.
const readyLag = 30 * time.Second

// commandPatience is how long the records may stand still while a command changes many of them:
// a cleanup of ten million records removed nothing in its first 100 s. With less patience a
// container would be unhealthy. It might be restarted, and the command would repeat its step.
const commandPatience = 15 * time.Minute

// Projection says whether the records follow the log. It is safe for concurrent
// use.
type Projection struct {
	status func() projector.Status
	log    *Log

	mu    sync.Mutex
	seen  place     // when it was last looked at
	moved time.Time // when it was last seen to have moved
	// waits is when the records were first seen at the row of the checkpoint waitsAt while the log
	// had more, zero while they are complete.
	waits   time.Time
	waitsAt uint64
}

// place is where a checkpoint stands. The steps of a long command have rows of their own.
type place struct{ row, sequence uint64 }

// NewProjection watches the projector whose status is given.
func NewProjection(status func() projector.Status, log *Log) *Projection {
	return &Projection{status: status, log: log}
}

// progress is the status of the projector, and for how long its checkpoint was
// seen not to move.
func (p *Projection) progress() (status projector.Status, still time.Duration) {
	status = p.status()
	p.mu.Lock()
	defer p.mu.Unlock()
	at := place{status.Checkpoint.Row, status.Checkpoint.Sequence}
	if now := p.log.now(); p.moved.IsZero() || at != p.seen {
		p.seen, p.moved = at, now
	}
	return status, p.log.now().Sub(p.moved)
}

// waiting is for how long the records were seen at one place although the log goes on: the
// projector gets no facts then, and knows of no lag.
func (p *Projection) waiting(row, behind uint64) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.log.now()
	switch {
	case behind == 0:
		p.waits = time.Time{}
		return 0
	case row != p.waitsAt || p.waits.IsZero():
		p.waitsAt, p.waits = row, now
	}
	return now.Sub(p.waits)
}

// Ready is nil when the records are at most 30 s behind the log, or moved
// within the last 30 s: to refuse readers while the projector catches up after
// an outage would help nobody. A command that changes many records has more time.
// Kind: store_unavailable.
func (p *Projection) Ready(context.Context) error {
	status, still := p.progress()
	if status.Lag <= readyLag && status.Err == nil || still <= patience(status) {
		return nil
	}
	return errata.Errorf(errata.KindStoreUnavailable,
		"The records are behind the log and do not get on. Events are taken and safe.").Because(status.Err)
}

// patience is how long the records may stand still.
func patience(status projector.Status) time.Duration {
	if status.Working {
		return commandPatience
	}
	return readyLag
}

// Check says how far the records follow the log.
func (p *Projection) Check(ctx context.Context) errata.Check {
	c := errata.Check{Name: "projector"}
	status, _ := p.progress()
	c.Detail = fmt.Sprintf("records show the log up to fact %d, lag %v", status.Checkpoint.Sequence, status.Lag.Round(time.Millisecond))
	stands := false
	if state, err := p.log.state(ctx); err == nil {
		n := behind(state, status)
		if n > 0 {
			c.Detail += fmt.Sprintf(", %d facts to go", n)
		}
		if status.Working {
			c.Detail += ", a change of many records is under way"
		}
		if waiting := p.waiting(status.Checkpoint.Row, n); waiting > readyLag {
			c.Detail, stands = c.Detail+fmt.Sprintf(", and no step for %v", waiting.Round(time.Second)), waiting > patience(status)
		}
	}
	if status.Checkpoint.Outdated() {
		c.Detail, c.Hint = c.Detail+"; "+outdatedDetail, outdatedHint
	}
	if status.Err != nil {
		c.Detail += "; " + status.Err.Error()
	}
	if c.OK = p.Ready(ctx) == nil && !stands; !c.OK {
		c.Hint = "events are safe on the log; see the check of clickhouse and the log of this service"
	}
	return c
}

// behind is how many facts of the log are not in the records.
func behind(state eventlog.State, status projector.Status) uint64 {
	return max(state.Last, status.Checkpoint.Sequence) - status.Checkpoint.Sequence
}
