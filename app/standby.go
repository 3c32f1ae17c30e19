package app

import (
	"context"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/exchange"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/selfcheck"
	"github.com/errata-log/errata/standby"
)

// markFile is the file of the data folder that says how far the log reached.
const markFile = "log.mark"

// windowFolder is the folder of the data folder with the event ids that a start needs.
const windowFolder = "window"

// makeProjector makes the projector and does not start it. The projector stops after
// the log, so that it has a chance to fold the last facts.
func (a *App) makeProjector(context.Context) (err error) {
	a.projector, err = projector.NewUnlocated(projector.Config{
		Log: a.stream(), ClickHouse: a.engines.ClickHouse(),
		Logger: a.logger, Registerer: a.registry, Gaps: a.logCare, Elsewhere: a.options.Cluster.On(),
		Own: a.options.ClickHouseDSN == "", WindowFolder: a.dir.Join(windowFolder), SpillFolder: a.dir.Path(),
	})
	if err != nil {
		return err
	}
	a.firstLook = selfcheck.NewFirstLook(a.projector.Store().Merges())
	a.cleanups.Add("projector", a.projector.Stop)
	a.logCare.Start()
	a.cleanups.AddPlain("care of the log", a.logCare.Stop)
	return nil
}

// startRecords starts the parts that need ClickHouse, or begins to wait for
// ClickHouse. It comes before the log is opened for writing; see [standby.Start].
func (a *App) startRecords(ctx context.Context) error {
	mark, err := standby.OpenMark(ctx, standby.MarkConfig{
		File: a.dir.Join(markFile), Reach: a.logReach, Alarms: a.alarms, Logger: a.logger,
		Fill: func(ctx context.Context, from, to uint64) error {
			return projector.Fill(ctx, a.stream(), a.logCare, from, to)
		},
		Folded: func() uint64 { return a.projector.Status().Checkpoint.Sequence },
	})
	if err != nil {
		return err
	}
	a.cleanups.Add("exchanges", func(ctx context.Context) error {
		if a.exchangeWriter == nil {
			return nil
		}
		return a.exchangeWriter.Stop(ctx)
	})
	if a.records, err = standby.Start(ctx, standby.Config{
		Steps: []func(context.Context) error{
			a.engines.PrepareClickHouse, a.migrateRecords, a.holdMerges, a.makeViews, a.projector.Locate, a.makeExchangeWriter,
		},
		Begin: func() {
			a.projector.Start()
			a.exchangeWriter.Start()
		},
		Mark: mark, Away: engine.Away, Damaged: query.IsDamage, Alarms: a.alarms, Logger: a.logger,
	}); err != nil {
		return err
	}
	a.cleanups.Add("records", a.records.Stop)
	a.cleanups.Add("mark of the log", mark.Stop)
	return nil
}

func (a *App) migrateRecords(ctx context.Context) error {
	if _, embedded := a.engines.EmbeddedClickHouse(); embedded {
		return migrations.OwnClickHouse(ctx, a.engines.ClickHouseOptions())
	}
	return migrations.ClickHouse(ctx, a.engines.ClickHouseOptions())
}

// makeExchangeWriter makes the writer of the module and query logs. The writer asks
// ClickHouse for its last written entry, so this step comes before their receivers.
func (a *App) makeExchangeWriter(ctx context.Context) (err error) {
	a.exchangeWriter, err = exchange.NewWriter(ctx, exchange.WriterConfig{
		Stream: a.exchanges(), ClickHouse: a.engines.ClickHouse(),
		ModuleDays: a.options.ModuleLogDays, QueryDays: a.options.QueryLogDays,
		Now: a.options.Now, Logger: a.logger, Registerer: a.registry, Skipped: a.strays.In("exchanges"), Keep: a.keepExchanges,
	})
	return err
}

// logReach tells which log this is and its last fact.
func (a *App) logReach(ctx context.Context) (standby.Mark, error) {
	state, err := a.logState(ctx)
	return standby.Mark{Log: state.Created.UnixNano(), Last: state.Last}, err
}
