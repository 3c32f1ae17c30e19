package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/migrations"
)

const (
	// retentionPause is how often the log's size is looked at. The smallest log
	// takes longer to fill from purgeAbove to its limit.
	retentionPause = 2 * time.Second
	// retentionTimeout bounds one purge, of which waiting for the projection
	// is the longest part.
	retentionTimeout = 5 * time.Minute
	// purgeAbove is the share of its room at which the log is purged, purgeTo
	// the share that is left, and urgentAbove the one at which the ids that
	// recognise repeats must go too.
	purgeAbove, purgeTo, urgentAbove = 0.70, 0.40, 0.85
	// headroom is added to the room of a log that is full for as long as it
	// takes to purge it: the command that does it must stand on it as well.
	headroom = 8 << 20
)

// retention keeps the log within its room: it has a snapshot of the projection
// taken and purges what stands before it. A rebuild is then made from the
// snapshot and the rest of the log.
type retention struct {
	app    *App
	logger *slog.Logger
	stop   context.CancelFunc
	ended  sync.WaitGroup
}

func (a *App) startRetention(context.Context) error {
	life, stop := context.WithCancel(context.Background())
	r := &retention{app: a, logger: a.logger, stop: stop}
	a.retention = r
	r.ended.Go(func() { r.run(life) }) // ends with life
	a.cleanups.addPlain("retention", func() {
		r.stop()
		r.ended.Wait()
	})
	return nil
}

func (r *retention) run(ctx context.Context) {
	tick := time.NewTicker(retentionPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := r.look(ctx); err != nil && ctx.Err() == nil {
			r.logger.Warn("the log could not be purged; it is tried again", "error", err)
		}
	}
}

// look purges the log if it is time to.
func (r *retention) look(ctx context.Context) error {
	if !r.app.records.Up() {
		return nil // nobody can take the snapshot
	}
	ctx, cancel := context.WithTimeout(ctx, retentionTimeout)
	defer cancel()
	state, err := r.app.logState(ctx)
	if err != nil {
		return err
	}
	keep := planPurge(state, r.app.projector.Status().Checkpoint.WindowFrom)
	if keep == 0 {
		return nil
	}
	select {
	case r.app.history <- struct{}{}:
		defer func() { <-r.app.history }()
	default:
		return nil // a replay reads what would go
	}
	began := time.Now()
	if state.Bytes+headroom/2 > uint64(state.MaxBytes) {
		if err := r.resize(ctx, r.app.engines.LogMaxBytes()+headroom); err != nil {
			return fmt.Errorf("make room for the purge: %w", err)
		}
	}
	if err := r.purge(ctx, keep); err != nil {
		return err
	}
	if err := r.resize(ctx, r.app.engines.LogMaxBytes()); err != nil {
		return fmt.Errorf("take back the room of the purge: %w", err)
	}
	r.logger.Info("purged the log; a snapshot of the projection holds what stood there",
		"before", keep, "log_bytes", state.Bytes, "limit", state.MaxBytes, "took", time.Since(began).Round(time.Millisecond))
	return nil
}

// planPurge is the first fact to keep, 0 when nothing has to go yet. The ids
// by which repeats are recognised, from window on, stay for as long as that
// leaves enough room.
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

// purge lets go of the facts before keep, when everything that they say is
// kept elsewhere.
func (r *retention) purge(ctx context.Context, keep uint64) error {
	a := r.app
	answer, err := a.commander.Do(ctx, eventlog.CommandSnapshot, eventlog.Snapshot{Keep: keep})
	if err != nil {
		return fmt.Errorf("take a snapshot: %w", err)
	}
	var taken eventlog.SnapshotTaken
	if err := json.Unmarshal(answer, &taken); err != nil || taken.Sequence+1 < keep {
		return fmt.Errorf("the snapshot holds %d and not all before %d: %w", taken.Sequence, keep, err)
	}
	if err := a.settings.Republish(ctx); err != nil {
		return fmt.Errorf("set the settings again: %w", err)
	}
	if err := a.audit.CaughtUp(ctx); err != nil {
		return fmt.Errorf("wait for the audit trail: %w", err)
	}
	kept, err := a.importsBucket(ctx)
	if err != nil {
		return err
	}
	if err := eventlog.KeepSourceMarks(ctx, a.stream(), kept); err != nil {
		return err
	}
	if _, embedded := a.engines.EmbeddedClickHouse(); embedded {
		engine.SyncDisks() // the snapshot is links to files, which nobody has synced yet
	}
	return eventlog.Purge(ctx, a.stream(), keep)
}

func (r *retention) resize(ctx context.Context, bytes int64) error {
	return migrations.Log(ctx, r.app.engines.JetStream(), migrations.LogConfig{Namespace: r.app.options.Namespace, MaxBytes: bytes, Replicas: r.app.options.NATSReplicas})
}
