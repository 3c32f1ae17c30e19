package app

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/logcare"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/projector"
)

// replayer rebuilds the projection, one rebuild at a time.
type replayer struct {
	app     *App
	life    context.Context //nolint:containedctx // ends when the service stops
	running chan struct{}   // capacity 1, full while a rebuild runs
	// progress is of the rebuild under way, nil when there is none.
	progress atomic.Pointer[projector.RebuildProgress]
}

var _ api.Replayer = (*replayer)(nil)

func (a *App) openReplay(context.Context) error {
	life, end := context.WithCancel(context.Background())
	r := &replayer{app: a, life: life, running: make(chan struct{}, 1)}
	a.replayer = r
	a.cleanups.add("replay", func(ctx context.Context) error {
		end()
		select {
		case r.running <- struct{}{}: // the last one has ended, and no other begins
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return nil
}

// Replay rebuilds the projection and swaps it in.
func (r *replayer) Replay(ctx context.Context, force bool) (api.ReplayResult, error) {
	if err := r.app.records.Err(); err != nil {
		return api.ReplayResult{}, err
	}
	select {
	case r.running <- struct{}{}:
	default:
		return api.ReplayResult{}, errata.Errorf(errata.KindAlreadyRunning, "A replay is running, or the service stops; GET the same path says how far it is.")
	}
	defer func() { <-r.running }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.life, cancel)()
	select {
	case r.app.history <- struct{}{}: // nothing is purged meanwhile
		defer func() { <-r.app.history }()
	case <-ctx.Done():
		return api.ReplayResult{}, errata.Errorf(errata.KindStoreUnavailable, "The service is stopping; the records are as they were.").Because(ctx.Err())
	}
	r.progress.Store(&projector.RebuildProgress{})
	defer r.progress.Store(nil)
	done, err := projector.Rebuild(ctx, r.app.projector, projector.RebuildConfig{
		Connect: r.connect, Force: force,
		Progress: func(p projector.RebuildProgress) { r.progress.Store(&p) },
	})
	switch {
	case errors.Is(err, projector.ErrNoHistory):
		return api.ReplayResult{}, errata.Errorf(errata.KindHistoryIncomplete, "The log was purged and there is no snapshot of what stood before; a rebuild would lose those records.")
	case err != nil && ctx.Err() != nil:
		return api.ReplayResult{}, errata.Errorf(errata.KindStoreUnavailable, "The service is stopping and broke off the replay; the records are as they were.").Because(err)
	case err != nil:
		return api.ReplayResult{}, fmt.Errorf("replay the log: %w", err)
	}
	result := api.ReplayResult{
		Swapped: done.Swapped, From: done.From, Facts: done.Live.Checkpoint - min(done.From-1, done.Live.Checkpoint), Events: done.Events,
		TookMS: done.Took.Milliseconds(), PausedMS: done.Paused.Milliseconds(),
		Live: done.Live, Replayed: done.Rebuilt, Differences: append([]string{}, done.Differences...),
		Gaps: logcare.Gaps(done.Gaps),
	}
	if done.Swapped {
		if err := r.app.logCare.Replayed(ctx); err != nil {
			r.app.logger.Warn("what the replay has mended could not be noted; its alarm stays", "error", err)
		}
	}
	if !done.Equal() && !force {
		differs := errata.Errorf(errata.KindProjectionDiffers, "The records that the log gives are not those that are shown, which stay as they are; look at the details, and replay with force to take those of the log.")
		differs.Details = result
		return api.ReplayResult{}, differs
	}
	return result, nil
}

// Replaying says how far the rebuild under way is.
func (r *replayer) Replaying() api.ReplayProgress {
	p := r.progress.Load()
	if p == nil {
		return api.ReplayProgress{}
	}
	return api.ReplayProgress{Running: true, Sequence: p.Sequence, Target: p.Target, Events: p.Events}
}

// connect makes the tables in a database beside the live one.
func (r *replayer) connect(database string) (driver.Conn, error) {
	options := r.app.engines.ClickHouseOptions()
	options.Auth.Database = database
	if err := migrations.ClickHouse(r.life, options); err != nil {
		return nil, err
	}
	return clickhouse.Open(options)
}
