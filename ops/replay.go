package ops

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/logcare"
	"github.com/errata-log/errata/projector"
)

// ReplayResult is the outcome of a replay.
type ReplayResult struct {
	projector.Comparison
	Gaps []logcare.Gap `json:"gaps"`
}

// ReplayProgress is how far a replay has come: the last fact folded of those up
// to the target.
type ReplayProgress struct {
	Running bool `json:"running"`
	projector.RebuildProgress
}

// Turn is held by one at a time.
type Turn = *semaphore.Weighted

// NewTurn makes a Turn that nobody holds.
func NewTurn() Turn { return semaphore.NewWeighted(1) }

// ReplayConfig is what a Replayer needs. All fields are required.
type ReplayConfig struct {
	// Ready is nil when there are records to compare with.
	Ready func() error
	// Rebuild is [projector.Rebuild] of the live projector. The Replayer sets
	// Progress, Force, Distrust and MaySwap.
	Rebuild func(context.Context, projector.RebuildConfig) (projector.Comparison, error)
	// Replayed is called after the rebuilt records have replaced the live ones.
	Replayed func(context.Context) error
	// Undecided returns an error while the log has gaps that nobody has decided
	// about.
	Undecided func() error
	// History is held while the log is read.
	History Turn
	Logger  *slog.Logger
}

// Replayer rebuilds the projection, one rebuild at a time.
type Replayer struct {
	cfg     ReplayConfig
	life    context.Context //nolint:containedctx // ends when the service stops
	end     context.CancelFunc
	running Turn
	// progress is of the rebuild under way, nil when there is none.
	progress atomic.Pointer[projector.RebuildProgress]
}

// NewReplayer rebuilds nothing yet.
func NewReplayer(cfg ReplayConfig) *Replayer {
	life, end := context.WithCancel(context.Background())
	return &Replayer{cfg: cfg, life: life, end: end, running: NewTurn()}
}

// Stop stops a rebuild, which then changes nothing, and waits for its end. No
// other rebuild begins after it.
func (r *Replayer) Stop(ctx context.Context) error {
	r.end()
	return r.running.Acquire(ctx, 1) // and never releases it
}

var (
	errReplaying = errors.New("a replay is running already")
	errWaiting   = errors.New("the log is not free to be read")
)

// rebuild rebuilds the projection unless another rebuild runs, and holds back
// purges of the log meanwhile. Errors: errReplaying, errWaiting, and those of
// [projector.Rebuild].
func (r *Replayer) rebuild(ctx context.Context, cfg projector.RebuildConfig, progress func(projector.RebuildProgress)) (done projector.Comparison, err error) {
	if !r.running.TryAcquire(1) {
		return done, errReplaying
	}
	defer r.running.Release(1)
	if err := r.cfg.History.Acquire(ctx, 1); err != nil {
		return done, fmt.Errorf("%w: %w", errWaiting, err)
	}
	defer r.cfg.History.Release(1)
	r.progress.Store(&projector.RebuildProgress{})
	defer r.progress.Store(nil)
	cfg.Progress = func(p projector.RebuildProgress) {
		r.progress.Store(&p)
		progress(p)
	}
	return r.cfg.Rebuild(ctx, cfg)
}

// Replay rebuilds the projection and swaps it in when it is done. One that differs
// from the live one is thrown away unless force is set. Kinds: already_running,
// history_incomplete, projection_differs with the [ReplayResult] as details,
// log_unavailable, store_unavailable.
func (r *Replayer) Replay(ctx context.Context, force bool) (ReplayResult, error) {
	if err := r.cfg.Ready(); err != nil {
		return ReplayResult{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.life, cancel)()
	done, err := r.rebuild(ctx, projector.RebuildConfig{Force: force}, func(projector.RebuildProgress) {})
	if err != nil {
		return ReplayResult{}, refusal(ctx, err)
	}
	result := ReplayResult{Comparison: done, Gaps: logcare.Gaps(done.Gaps)}
	result.Differences = append([]string{}, done.Differences...) // never null
	if done.Swapped {
		if err := r.cfg.Replayed(ctx); err != nil {
			r.cfg.Logger.Warn("the replay has repaired the records, but that could not be noted; the alarm stays", "error", err)
		}
	}
	if !done.Equal() && !force {
		return ReplayResult{}, errata.Errorf(errata.KindProjectionDiffers, "The records that the log gives are not those that are shown, which stay as they are; look at the details, and replay with force to take those of the log.").
			With(result)
	}
	return result, nil
}

// refusal is why there was no replay, for the caller.
func refusal(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, errReplaying):
		return errata.Errorf(errata.KindAlreadyRunning, "A replay is running, or the service stops; GET the same path says how far it is.")
	case errors.Is(err, projector.ErrNoHistory):
		return errata.Errorf(errata.KindHistoryIncomplete, "The log was purged and there is no snapshot of what stood before; a rebuild would lose those records.")
	case errors.Is(err, errWaiting):
		return errata.Errorf(errata.KindStoreUnavailable, "The service is stopping; the records are as they were.").Because(err)
	case ctx.Err() != nil:
		return errata.Errorf(errata.KindStoreUnavailable, "The service is stopping and broke off the replay; the records are as they were.").Because(err)
	}
	return fmt.Errorf("replay the log: %w", err)
}

// Remake rebuilds the projection when the live tables cannot be trusted, and
// tells how far it is, in facts. It fails instead of showing records while the
// log has gaps that nobody has decided about.
func (r *Replayer) Remake(ctx context.Context, progress func(done, target uint64)) error {
	_, err := r.rebuild(ctx, projector.RebuildConfig{
		Force: true, Distrust: true, MaySwap: r.cfg.Undecided, // the rebuild itself may find a gap
	}, func(p projector.RebuildProgress) { progress(p.Sequence, p.Target) })
	return err
}

// Replaying says how far the rebuild under way is.
func (r *Replayer) Replaying() ReplayProgress {
	p := r.progress.Load()
	if p == nil {
		return ReplayProgress{}
	}
	return ReplayProgress{Running: true, RebuildProgress: *p}
}
