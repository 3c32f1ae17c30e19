package ops

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/projector"
)

const (
	// retentionPause is how often the log's size is looked at. The smallest log
	// takes longer to fill from purgeAbove to its limit.
	retentionPause = 2 * time.Second
	// retentionTimeout bounds one purge, of which waiting for the projection
	// is the longest part.
	retentionTimeout = 5 * time.Minute
	// purgeAbove is the share of its room at which the log is purged, purgeTo
	// the share that is left, and urgentAbove the share at which the ids of
	// recent events, which recognise repeats, are purged too.
	purgeAbove, purgeTo, urgentAbove = 0.70, 0.40, 0.85
	// headroom is added to the room of a full log while it is purged: the
	// snapshot command must fit on the log as well.
	headroom = 8 << 20
)

// Commander puts commands on the log and waits for their answers;
// *eventlog.Commander is one.
type Commander interface {
	Do(ctx context.Context, name string, body any) (eventlog.Answer, error)
}

// Keep saves what a part of the service needs of the facts that are about to be
// purged.
type Keep struct {
	// Name says what it does, for errors.
	Name string
	Do   func(context.Context) error
}

// RetentionConfig says which log is kept within its room. All fields are required.
type RetentionConfig struct {
	Log eventlog.Log
	// Room is what the log may take, in bytes; Resize changes that.
	Room   int64
	Resize func(ctx context.Context, bytes int64) error
	// Up says whether the projector can take a snapshot, and Projection how far
	// it is.
	Up         func() bool
	Projection func() projector.Status
	Commander  Commander
	// May says whether this node may purge the log now. With urgent it is nearly full.
	May func(ctx context.Context, urgent bool) (bool, error)
	// Keep are called in this order, after the snapshot and before the purge.
	Keep []Keep
	// History is held while the log is purged.
	History Turn
	Logger  *slog.Logger
}

// Retention keeps the log within its room: it takes a snapshot of the
// projection and purges the facts before it. A rebuild then begins with the
// snapshot and reads the rest of the log.
type Retention struct {
	cfg  RetentionConfig
	work background.Runner
	// small is the last folded fact when the log was last seen to be small enough; of look
	// alone.
	small uint64
}

// StartRetention begins to look at the log's size every 2 s.
func StartRetention(cfg RetentionConfig) *Retention {
	r := &Retention{cfg: cfg}
	r.work.Start(background.Loop{
		Do: r.look, Every: retentionPause, Failed: background.Tell(cfg.Logger.Warn, "the log could not be purged; it is tried again"),
	}.Run)
	return r
}

// Stop stops a purge and waits for its end. The next start purges the rest.
func (r *Retention) Stop() { _ = r.work.Stop(context.Background()) }

// look purges the log if it is time to.
func (r *Retention) look(ctx context.Context) error {
	if !r.cfg.Up() {
		return nil // nobody can take the snapshot
	}
	folded := r.cfg.Projection().Checkpoint
	if folded.Sequence != 0 && folded.Sequence == r.small {
		return nil // the log has not grown
	}
	ctx, cancel := context.WithTimeout(ctx, retentionTimeout)
	defer cancel()
	state, err := eventlog.Inspect(ctx, r.cfg.Log)
	if err != nil {
		return err
	}
	keep := planPurge(state, folded.WindowFrom)
	if keep == 0 {
		r.small = folded.Sequence
		return nil
	}
	if may, err := r.cfg.May(ctx, float64(state.Bytes) >= urgentAbove*float64(state.MaxBytes)); !may {
		return err
	}
	if !r.cfg.History.TryAcquire(1) {
		return nil // a replay reads the facts that would go
	}
	defer r.cfg.History.Release(1)
	began := time.Now()
	if state.Bytes+headroom/2 > uint64(state.MaxBytes) {
		if err := r.cfg.Resize(ctx, r.cfg.Room+headroom); err != nil {
			return fmt.Errorf("make room for the purge: %w", err)
		}
	}
	if err := r.purge(ctx, keep); err != nil {
		return err
	}
	if err := r.cfg.Resize(ctx, r.cfg.Room); err != nil {
		return fmt.Errorf("take back the room of the purge: %w", err)
	}
	r.cfg.Logger.Info("purged the log; a snapshot of the projection holds what stood there",
		"before", keep, "log_bytes", state.Bytes, "limit", state.MaxBytes, "took", time.Since(began).Round(time.Millisecond))
	return nil
}

// planPurge is the first fact to keep, 0 when nothing has to be purged. The
// facts from window on, whose event ids recognise repeats, stay for as long as
// that leaves enough room.
func planPurge(state eventlog.State, window uint64) uint64 {
	if state.MaxBytes <= 0 || state.Last <= state.First {
		return 0
	}
	used := float64(state.Bytes) / float64(state.MaxBytes)
	if used < purgeAbove {
		return 0
	}
	facts := float64(state.Last - state.First + 1)
	keep := state.First + uint64(facts*(1-purgeTo/used))
	if used < urgentAbove && window != 0 {
		keep = min(keep, window)
	}
	if keep <= state.First+uint64(facts/100) {
		return 0 // too little to be worth a snapshot
	}
	return keep
}

// purge purges the facts before keep, once a snapshot and every Keep hold what
// they say.
func (r *Retention) purge(ctx context.Context, keep uint64) error {
	answer, err := r.cfg.Commander.Do(ctx, eventlog.CommandSnapshot, eventlog.Snapshot{Keep: keep})
	if err != nil {
		return fmt.Errorf("take a snapshot: %w", err)
	}
	var taken eventlog.SnapshotTaken
	if err := json.Unmarshal(answer, &taken); err != nil || taken.Sequence+1 < keep {
		return fmt.Errorf("the snapshot holds %d and not all before %d: %w", taken.Sequence, keep, err)
	}
	for _, k := range r.cfg.Keep {
		if err := k.Do(ctx); err != nil {
			return fmt.Errorf("%s: %w", k.Name, err)
		}
	}
	return eventlog.Purge(ctx, r.cfg.Log, keep)
}

// Renew takes the snapshot of the records again if there is one; with cut, it
// also purges all facts so far. Kinds: already_running while a replay reads the
// log, log_unavailable, store_unavailable.
func (r *Retention) Renew(ctx context.Context, cut bool) error {
	ctx, cancel := context.WithTimeout(ctx, retentionTimeout)
	defer cancel()
	state, err := eventlog.Inspect(ctx, r.cfg.Log)
	if err != nil {
		return err
	}
	keep := state.First
	switch {
	case cut:
		keep = state.Last
	case state.First <= 1:
		return nil // nothing was ever purged, and so there is no snapshot
	}
	if !r.cfg.History.TryAcquire(1) {
		return errata.Errorf(errata.KindAlreadyRunning,
			"The records are erased. A replay reads the log, so that neither snapshot nor log could be renewed: send the request again when it has ended.")
	}
	defer r.cfg.History.Release(1)
	return r.purge(ctx, keep)
}
