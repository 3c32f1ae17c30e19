package app

import (
	"cmp"
	"context"

	"github.com/errata-log/errata/cluster/records"
	"github.com/errata-log/errata/ops"
)

// startCatchingUp makes what takes records from another node, and begins to watch whether those
// of this node have caught up with the log. Outside of a cluster there is neither.
func (a *App) startCatchingUp(context.Context) (err error) {
	if !a.options.Cluster.On() {
		return nil
	}
	log := a.stream()
	if a.tables, err = records.NewNode(records.NodeConfig{
		NATS: log.NATS, Prefix: log.Prefix, Self: log.Node, Version: a.options.Version,
		Engines: a.engines, Projector: a.projector, External: a.options.ClickHouseDSN != "", History: a.history, Ahead: a.cluster.Ahead,
		HoldExchanges: func(ctx context.Context, do func() error) error { return a.exchangeWriter.Hold(ctx, do) }, // it is made later
		First: func(ctx context.Context) (uint64, error) {
			state, err := a.logState(ctx)
			return state.First, err
		},
		Now: a.options.Now, Logger: a.logger,
	}); err != nil {
		return err
	}
	a.caughtUp = ops.StartCaughtUp(ops.CaughtUpConfig{
		Up: a.records.Up, Projection: a.projector.Status, Doing: a.tables.Doing, Undecided: a.logCare.Undecided, Opened: a.tables.Clean, Now: a.options.Now, Logger: a.logger,
		Last: func(ctx context.Context) (uint64, error) {
			state, err := a.logState(ctx)
			return state.Last, err
		},
	})
	a.cleanups.Add("catching up", a.caughtUp.Stop)
	return nil
}

// giveRecords begins to give the tables of this node to others of its cluster that need them.
func (a *App) giveRecords(context.Context) error {
	end, err := a.tables.Give(func() error { return cmp.Or(a.records.Err(), a.caughtUp.Err(), a.checker.Whole()) })
	if err == nil {
		a.cleanups.Add("records for other nodes", end)
	}
	return err
}
