package app

import (
	"context"
	"errors"
	"time"

	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/selfcheck"
)

// selfCheckMark is the file of the data folder that tells the next start what
// need not be looked at again.
const selfCheckMark = "selfcheck.json"

// selfCheckPatience is how much of a stop a question to a ClickHouse that does
// not answer may take.
const selfCheckPatience = time.Second

// markCleanStop has the self-check note a clean stop once the projector has
// stopped, which comes to be after this.
func (a *App) markCleanStop(context.Context) error {
	a.cleanups.add("mark of the self-check", func(context.Context) error {
		if a.checker == nil {
			return nil
		}
		if _, embedded := a.engines.EmbeddedClickHouse(); embedded {
			engine.SyncDisks() // what stands beside the rows of a part is not synced by an insert
		}
		return a.checker.Stopped()
	})
	return nil
}

// holdDamaged looks once whether the projector and the merges may change the
// tables, before they do.
func (a *App) holdDamaged(ctx context.Context) error {
	if _, embedded := a.engines.EmbeddedClickHouse(); !embedded {
		return nil
	}
	conn := a.engines.ClickHouse()
	if err := selfcheck.Hold(ctx, conn, projector.NewStore(conn, 0)); err != nil {
		a.logger.Warn("the records were not looked at before the start; the self-check does", "error", err)
	}
	return nil
}

// startSelfCheck begins to ask whether log and tables agree, when there are tables.
func (a *App) startSelfCheck(context.Context) (err error) {
	embedded := a.options.ClickHouseDSN == "" // also while it is away
	a.checker, err = selfcheck.New(selfcheck.Config{
		ClickHouse: a.engines.ClickHouse(), Projector: a.projector, Log: a.stream(), Alarms: a.alarms,
		Rebuild: a.replayer.remake, Undecided: a.logCare.Undecided, Sole: embedded, Mark: a.dir.Join(selfCheckMark),
		Logger: a.logger, Registerer: a.options.Registry, Now: a.options.Now,
	})
	if err != nil {
		return err
	}
	started := false
	a.records.WhenUpOrDamaged(func() { // a start that met damage goes on when that is mended
		started = true
		a.checker.Start()
	})
	a.cleanups.add("self-check", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, selfCheckPatience)
		defer cancel()
		err := a.records.Stop(ctx)
		if err == nil && started { // nothing starts it any more
			err = a.checker.Stop(ctx)
		}
		if err != nil {
			a.logger.Warn("the self-check is left to ClickHouse, which does not answer", "error", err)
		}
		return nil
	})
	return nil
}

// remake makes the records again from the log although the live tables cannot be
// trusted; see [selfcheck.Config].
func (r *replayer) remake(ctx context.Context, progress func(done, target uint64)) error {
	select {
	case r.running <- struct{}{}:
		defer func() { <-r.running }()
	default:
		return errors.New("a replay is running already")
	}
	select {
	case r.app.history <- struct{}{}: // nothing is purged meanwhile
		defer func() { <-r.app.history }()
	case <-ctx.Done():
		return ctx.Err()
	}
	r.progress.Store(&projector.RebuildProgress{})
	defer r.progress.Store(nil)
	_, err := projector.Rebuild(ctx, r.app.projector, projector.RebuildConfig{
		Connect: r.connect, Force: true, Distrust: true, MaySwap: r.app.logCare.Undecided, // it may meet what is gone on its way
		Progress: func(p projector.RebuildProgress) {
			r.progress.Store(&p)
			progress(p.Sequence, p.Target)
		},
	})
	return err
}

// checkSelf is the line of the self-check for an operator.
func (a *App) checkSelf() api.Check {
	c := api.Check{Name: "self-check"}
	c.OK, c.Detail, c.Hint = a.checker.Last().Tell(a.options.Now())
	return c
}
