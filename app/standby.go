package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/exchange"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/standby"
)

// markFile is how far the log reached, below the data folder.
const markFile = "log.mark"

// makeProjector makes the projector and starts nothing. It is stopped after the
// log, and folds what came in last if it gets to it.
func (a *App) makeProjector(context.Context) (err error) {
	a.projector, err = projector.NewUnlocated(projector.Config{
		Log: a.stream(), ClickHouse: a.engines.ClickHouse(),
		Logger: a.logger, Registerer: a.options.Registry, Gaps: a.logCare,
	})
	if err != nil {
		return err
	}
	a.cleanups.add("projector", a.projector.Stop)
	a.logCare.Start()
	a.cleanups.addPlain("care of the log", a.logCare.Stop)
	return nil
}

// startRecords brings up what needs ClickHouse, or begins to wait for it. It comes
// before the log is opened for writing: where the log is shorter than the
// projection it is filled up first, to where the projection is or, while nobody
// can ask it, to where the log was.
func (a *App) startRecords(ctx context.Context) (err error) {
	path := a.dir.Join(markFile)
	mark, err := standby.ReadMark(path)
	if err != nil {
		a.logger.Warn("the mark of the log cannot be read and is written anew", "error", err)
	}
	now, err := a.markNow(ctx)
	if err != nil {
		return err
	}
	if a.logAtOpen = now.Last; mark.Log == now.Log {
		a.logAtOpen = max(now.Last, mark.Last)
	}
	if a.records, err = standby.Start(ctx, standby.Config{
		Try: a.bringUpRecords, Away: engine.Away, Damaged: query.IsDamage, Alarms: a.alarms, Logger: a.logger,
	}); err != nil {
		return err
	}
	a.cleanups.add("records", func(ctx context.Context) error {
		err := a.records.Stop(ctx)
		if a.exchangeWriter != nil {
			err = errors.Join(err, a.exchangeWriter.Stop(ctx))
		}
		return err
	})
	if err := a.padToMark(ctx, mark); err != nil {
		return err
	}
	a.cleanups.add("mark of the log", standby.KeepMark(path, a.markNow, a.logger).Stop)
	return nil
}

// bringUpRecords does all that needs ClickHouse before the records can follow the
// log. It can be done again from any place where it failed. Where it failed at
// damaged files it goes on from there: what comes before, such as holding the
// merges, is not to get in the way of who mends them.
func (a *App) bringUpRecords(ctx context.Context) error {
	defer func() { a.opened = true }() // a second try comes behind open doors
	steps := []func(context.Context) error{
		a.engines.PrepareClickHouse, a.migrateRecords, a.holdDamaged, a.makeViews, a.projector.Locate, a.makeExchangeWriter,
	}
	from := a.damagedStep
	for i, do := range steps[from:] {
		if err := do(ctx); err != nil {
			if a.damagedStep = 0; query.IsDamage(err) {
				a.damagedStep, a.metDamage = from+i, true
			}
			return err
		}
	}
	a.tellUsedTwice()
	a.projector.Start()
	a.exchangeWriter.Start()
	return nil
}

// tellUsedTwice raises an alarm when events were taken under sequences that the
// records had had already: the log was put back to an older state, and nobody
// could say so when the doors opened.
func (a *App) tellUsedTwice() {
	folded := a.projector.Status().Checkpoint.Sequence
	if !a.opened || folded <= a.logAtOpen || a.metDamage { // what was made again is of this log
		return
	}
	a.alarms.Raise("sequences-used-twice", fmt.Sprintf(
		"the log is older than the records and ClickHouse was away at the start: events that were taken as facts %d to %d are on the log and are not shown", a.logAtOpen+1, folded),
		"errata replay --force makes the records from this log, without what only the newer log had; or put the newer log back, with the service stopped. The alarm ends with the next start")
}

func (a *App) migrateRecords(ctx context.Context) error {
	return migrations.ClickHouse(ctx, a.engines.ClickHouseOptions())
}

// makeExchangeWriter finds out how far the module and query logs are written. It
// comes before their doors take anything.
func (a *App) makeExchangeWriter(ctx context.Context) (err error) {
	a.exchangeWriter, err = exchange.NewWriter(ctx, exchange.WriterConfig{
		Stream: a.exchanges(), ClickHouse: a.engines.ClickHouse(),
		ModuleDays: a.options.ModuleLogDays, QueryDays: a.options.QueryLogDays,
		Now: a.options.Now, Logger: a.logger, Registerer: a.options.Registry, Skipped: a.strays.In("exchanges"),
	})
	return err
}

// padToMark keeps sequences of a log that was put back to an older state from being
// used twice. While ClickHouse is there the projector has seen to that.
func (a *App) padToMark(ctx context.Context, mark standby.Mark) error {
	if a.records.Up() {
		return nil
	}
	now, err := a.markNow(ctx)
	if err != nil {
		return err
	}
	if now.Log != mark.Log || now.Last >= mark.Last {
		return nil
	}
	a.logger.Warn("log is shorter than it was, filling it up", "log", now.Last, "was", mark.Last)
	return projector.Fill(ctx, a.stream(), a.logCare, now.Last+1, mark.Last)
}

// markNow is how far the log reaches.
func (a *App) markNow(ctx context.Context) (standby.Mark, error) {
	state, err := a.logState(ctx)
	if err != nil {
		return standby.Mark{}, fmt.Errorf("mark how far the log reaches: %w", err)
	}
	return standby.Mark{Log: state.Created.UnixNano(), Last: state.Last}, nil
}
