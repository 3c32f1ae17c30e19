package app

import (
	"context"
	"errors"

	"github.com/errata-log/errata/selfcheck"
)

// selfCheckMark is the file of the data folder that tells the next start which
// parts it need not read again.
const selfCheckMark = "selfcheck.json"

// markCleanStop adds the last step of a clean stop: the self-check notes it. The
// projector is made after this step, so it has stopped by then.
func (a *App) markCleanStop(context.Context) error {
	a.cleanups.Add("mark of the self-check", func(ctx context.Context) error {
		if a.checker == nil {
			return nil
		}
		// An insert syncs the rows of a part, and not the files beside them.
		return errors.Join(a.engines.SyncFiles(ctx), a.checker.Stopped())
	})
	return nil
}

// holdMerges keeps merges from hiding damage before the first look. When that fails, the start
// goes on: most merges hide nothing. Other services may write to a ClickHouse of the operator's
// own, so no merges are stopped there. Those that a killed service has stopped are started.
func (a *App) holdMerges(ctx context.Context) error {
	if _, embedded := a.engines.EmbeddedClickHouse(); !embedded {
		if err := a.projector.Store().Merges().Recover(ctx); err != nil {
			a.logger.Info("merges that a killed service has stopped would not go on", "error", err)
		}
		return nil
	}
	if err := a.firstLook.Hold(ctx); err != nil {
		a.logger.Warn("the records may be merged before the self-check has read them", "error", err)
	}
	return nil
}

// startSelfCheck begins to check that log and tables agree, once the tables are up.
func (a *App) startSelfCheck(context.Context) (err error) {
	embedded := a.options.ClickHouseDSN == ""
	var take func(context.Context) error
	if a.options.Cluster.On() {
		take = a.tables.Take
	}
	if a.checker, err = selfcheck.New(selfcheck.Config{
		ClickHouse: a.engines.ClickHouse(), Projector: a.projector, Log: a.stream(), Alarms: a.alarms,
		Rebuild: a.replayer.Remake, Undecided: a.logCare.Undecided, Sole: embedded, First: a.firstLook, Take: take, Mark: a.dir.Join(selfCheckMark),
		Logger: a.logger, Registerer: a.registry, Now: a.options.Now,
	}); err != nil {
		return err
	}
	a.records.WhenUpOrDamaged(a.checker.Start) // after damage the start waits for the checker to mend it
	a.cleanups.Add("self-check", func(ctx context.Context) error { a.checker.Stop(ctx, a.records.Stop); return nil })
	return nil
}
