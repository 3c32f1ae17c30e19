package ops

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/projector"
)

const (
	// shownLag is how far the records of a node of a cluster may be behind the log before the
	// node shows them for the first time. The others have the rest meanwhile.
	shownLag = 5 * time.Second
	// caughtUpPause is the pause between two looks.
	caughtUpPause = 200 * time.Millisecond
)

// CaughtUpConfig says whose records must catch up. All fields are required.
type CaughtUpConfig struct {
	// Up says whether the projector knows its checkpoint, and Projection how far it is.
	Up         func() bool
	Projection func() projector.Status
	// Last is the last fact of the log.
	Last func(context.Context) (uint64, error)
	// Undecided returns an error while the log has a gap that nobody has decided about, which
	// keeps the records where they are.
	Undecided func() error
	// Doing says what is done to the records instead of folding, "" for nothing.
	Doing func() string
	// Opened is called when the records have caught up.
	Opened func(context.Context) error
	Now    func() time.Time
	Logger *slog.Logger
}

// CaughtUp says whether the records of a node of a cluster may be shown. They may not after a
// start, and when facts were purged before they were folded, until they were once at most 5 s
// behind the log. After that they may, however far they are behind: to refuse readers because
// of much load would help nobody. A nil *CaughtUp is that of a service of its own, which always
// shows what it has. It is safe for concurrent use.
type CaughtUp struct {
	cfg  CaughtUpConfig
	open atomic.Bool
	// seen is the last fact of the log when it was looked at, for the goroutine that looks.
	seen struct {
		last uint64
		at   time.Time
	}
	goal atomic.Uint64 // seen.last, for people
	work background.Runner
}

// StartCaughtUp begins to watch the records.
func StartCaughtUp(cfg CaughtUpConfig) *CaughtUp {
	c := &CaughtUp{cfg: cfg}
	c.work.Start(background.Loop{Do: c.look, Every: caughtUpPause, Failed: background.Tell(cfg.Logger.Warn, "nobody knows how far the records are behind the log")}.Run)
	return c
}

// Stop ends watching. The error is that of ctx.
func (c *CaughtUp) Stop(ctx context.Context) error { return c.work.Stop(ctx) }

// Ready is Err as a check.
func (c *CaughtUp) Ready(context.Context) error { return c.Err() }

// Err is nil when records may be shown, else the error for whoever asks for some. Kind:
// store_unavailable.
func (c *CaughtUp) Err() error {
	if c == nil || c.open.Load() {
		return nil
	}
	detail := fmt.Sprintf("fact %d of %d", c.cfg.Projection().Checkpoint.Sequence, c.goal.Load())
	if doing := c.cfg.Doing(); doing != "" {
		detail = "it " + doing
	}
	return &errata.Error{
		Kind: errata.KindStoreUnavailable, RetryAfter: shownLag,
		Message: fmt.Sprintf("The records of this node are catching up (%s). Events are taken; the other nodes of the cluster show all records.", detail),
	}
}

// look opens or closes.
func (c *CaughtUp) look(ctx context.Context) error {
	if !c.cfg.Up() {
		return nil
	}
	status, now := c.cfg.Projection(), c.cfg.Now()
	if c.open.Load() {
		if errors.Is(status.Err, projector.ErrHistoryLost) || errors.Is(status.Err, eventlog.ErrLogPurged) {
			c.open.Store(false)
			c.seen.at = time.Time{}
		}
		return nil
	}
	if now.Sub(c.seen.at) > shownLag {
		last, err := c.cfg.Last(ctx)
		if err != nil {
			return err
		}
		c.seen.last, c.seen.at = last, now
		c.goal.Store(last)
	}
	// Everything that was on the log so shortly ago is in the records, or they cannot catch up
	// before an operator decides, and the node shows what it has.
	if !(status.Err == nil && status.Checkpoint.Sequence >= c.seen.last) && c.cfg.Undecided() == nil {
		return nil
	}
	c.open.Store(true)
	c.cfg.Logger.Info("the records of this node have caught up with the log", "fact", status.Checkpoint.Sequence)
	return c.cfg.Opened(ctx)
}
