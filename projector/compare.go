package projector

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/errata-log/errata/eventlog"
)

// Comparison is the outcome of a rebuild.
type Comparison struct {
	// Swapped says that the rebuilt projection is the live one now.
	Swapped bool `json:"swapped"`
	// From is the first fact that was read: 1, or the first after the snapshot.
	// Facts is how many facts were read, Events how many events they counted.
	From   uint64 `json:"from"`
	Facts  uint64 `json:"facts"`
	Events uint64 `json:"events"`
	TookMS int64  `json:"took_ms"`
	// PausedMS is how long the live projection stood still for the swap.
	PausedMS int64 `json:"paused_ms"`
	Live     Tally `json:"live"`
	Rebuilt  Tally `json:"replayed"`
	// Outdated says that an older version has made the live records. What that version
	// computed in another way is not compared, such as the level of a record.
	Outdated bool `json:"outdated"`
	// Differences says in words what differs. Gaps of the log that no operator has
	// accepted are among them.
	Differences []string `json:"differences"`
	// Gaps are the gaps of the log, accepted or not.
	Gaps []eventlog.Gap `json:"-"`
}

// Equal says whether both projections hold the same bytes.
func (c Comparison) Equal() bool { return len(c.Differences) == 0 }

// compareTries bounds how often compare begins again because the live projection
// has moved although its projector was stopped.
const compareTries = 10

// compare folds up to the checkpoint of the live projection and counts both there.
// The live projection may move meanwhile: its last insert may still happen, or the
// projector of another node takes over.
func (r *rebuild) compare(ctx context.Context, c *Comparison) error {
	for try := 1; ; try++ {
		cp, err := r.finish(ctx)
		if err != nil {
			return err
		}
		if err := r.foldTo(ctx, cp.Sequence); err != nil {
			return fmt.Errorf("fold the rest of the log: %w", err)
		}
		if r.cfg.Distrust {
			c.Live.Checkpoint = cp.Sequence
			c.Rebuilt, err = r.next.store.Tally(ctx)
			return err
		}
		fold := FoldVersion
		if c.Outdated = cp.Outdated(); c.Outdated {
			fold = cp.Fold
		}
		if err := r.tally(ctx, fold, c); err != nil {
			return err
		}
		after, ahead, err := r.position(ctx)
		if err != nil || after.Row == cp.Row && ahead <= cp.Sequence || try == compareTries {
			return err
		}
	}
}

// finish returns the target after the live projection has all of its last batch: its projector
// may have been stopped when only the rollups and the contexts had it.
func (r *rebuild) finish(ctx context.Context) (Checkpoint, error) {
	if r.cfg.Distrust {
		return r.target(ctx)
	}
	cp, ahead, err := r.position(ctx)
	if err != nil || ahead <= cp.Sequence {
		return cp, err
	}
	if err := r.live.FoldTo(ctx, ahead); err != nil {
		return Checkpoint{}, fmt.Errorf("fold the last batch of the live projection: %w", err)
	}
	return r.target(ctx)
}

// position is that of the live projection. ahead is the last fact of which it has anything.
func (r *rebuild) position(ctx context.Context) (cp Checkpoint, ahead uint64, err error) {
	if cp, err = r.live.store.Checkpoint(ctx); err != nil {
		return Checkpoint{}, 0, err
	}
	rolled, err := r.live.store.rolledTo(ctx)
	if err != nil {
		return Checkpoint{}, 0, err
	}
	log, err := eventlog.Inspect(ctx, r.live.cfg.Log)
	if err != nil {
		return Checkpoint{}, 0, err
	}
	// Nothing can be folded from behind the end of the log, if that was lost.
	return cp, min(max(r.live.Shown(), rolled.hourly, rolled.deployments, rolled.occurrences), log.Last), nil
}

// holdMerges lets merges wait until goOn is called: with them a comparison takes longer, and the
// live projection stands still meanwhile. Nothing may be folded before goOn, because an erasure
// waits for a mutation of the table.
func (p *Projector) holdMerges(ctx context.Context) (goOn func()) {
	if !p.cfg.Own {
		return func() {}
	}
	release, err := p.store.merges.Hold(ctx, projectionTables...)
	if err != nil {
		p.tellMerges(err)
		return func() {}
	}
	return func() { p.tellMerges(release(context.WithoutCancel(ctx))) }
}

// tally counts both projections.
func (r *rebuild) tally(ctx context.Context, fold int, c *Comparison) error {
	for _, p := range [...]*Projector{r.live, r.next} {
		goOn := p.holdMerges(ctx)
		defer goOn()
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) { c.Live, err = r.live.store.tally(ctx, fold); return err })
	group.Go(func() (err error) { c.Rebuilt, err = r.next.store.tally(ctx, fold); return err })
	return group.Wait()
}
