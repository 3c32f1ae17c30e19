package app

import (
	"context"
	"errors"

	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/selfcheck"
)

// selfCheckMark is the file of the data folder that tells the next start what
// need not be looked at again.
const selfCheckMark = "selfcheck.json"

// markCleanStop has the self-check note a clean stop once the projector has
// stopped, which comes to be after this.
func (a *App) markCleanStop(context.Context) error {
	a.cleanups.add("mark of the self-check", func(ctx context.Context) error {
		if a.checker == nil {
			return nil
		}
		// What stands beside the rows of a part is not synced by an insert.
		return errors.Join(a.engines.SyncFiles(ctx), a.checker.Stopped())
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
		Rebuild: a.replayer.Remake, Undecided: a.logCare.Undecided, Sole: embedded, Mark: a.dir.Join(selfCheckMark),
		Logger: a.logger, Registerer: a.options.Registry, Now: a.options.Now,
	})
	if err != nil {
		return err
	}
	a.records.WhenUpOrDamaged(a.checker.Start) // a start that met damage goes on when that is mended
	a.cleanups.add("self-check", func(ctx context.Context) error { a.checker.Stop(ctx, a.records.Stop); return nil })
	return nil
}
