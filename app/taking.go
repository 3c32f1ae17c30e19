package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/errata-log/errata/cluster/records"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/ops"
	"github.com/errata-log/errata/projector"
)

// linkTimeout bounds how long the projector waits for the tables to be linked for another node.
const linkTimeout = time.Minute

// startCatchingUp makes what takes records from another node, and begins to watch whether those
// of this node have caught up with the log. Outside of a cluster there is neither.
func (a *App) startCatchingUp(context.Context) error {
	if !a.options.Cluster.On() {
		return nil
	}
	terms, err := a.terms()
	if err != nil {
		return err
	}
	taken := a.engines.Database() + projector.TakenSuffix
	log := a.stream()
	if a.taker, err = records.NewTaker(records.TakerConfig{
		NATS: log.NATS, Prefix: log.Prefix, Terms: terms, Folder: a.engines.TakenDir(), Logger: a.logger, Ahead: a.cluster.Ahead,
		First: func(ctx context.Context) (uint64, error) {
			state, err := a.logState(ctx)
			return state.First, err
		},
		Free: func() (int64, error) {
			free, _, err := a.engines.DiskRoom()
			return free, err
		},
		Link: func(ctx context.Context, t engine.FrozenTable, folder string) error {
			return a.engines.LinkTable(ctx, t, taken, folder)
		},
		Adopt: func(ctx context.Context) error { return a.adoptRecords(ctx, taken) },
		Drop:  func(ctx context.Context) error { return a.engines.DropBeside(ctx, taken) },
	}); err != nil {
		return err
	}
	a.caughtUp = ops.StartCaughtUp(ops.CaughtUpConfig{
		Up: a.records.Up, Projection: a.projector.Status, Doing: a.taker.Doing, Undecided: a.logCare.Undecided, Opened: a.taker.Clean, Now: a.options.Now, Logger: a.logger,
		Last: func(ctx context.Context) (uint64, error) {
			state, err := a.logState(ctx)
			return state.Last, err
		},
	})
	a.cleanups.Add("catching up", a.caughtUp.Stop)
	return nil
}

// terms are the versions of the tables of this program.
func (a *App) terms() (records.Terms, error) {
	schema, err := migrations.Schema()
	return records.Terms{Schema: schema, Fold: projector.FoldVersion, Version: a.options.Version}, err
}

// takeRecords puts the tables of another node in the place of those of this one. Neither replay
// nor backup reads them meanwhile.
func (a *App) takeRecords(ctx context.Context) error {
	if a.options.ClickHouseDSN != "" {
		return errors.New("the ClickHouse of this node is a server of your own (clickhouse-dsn), whose files it cannot write")
	}
	if err := a.history.Acquire(ctx, 1); err != nil {
		return err
	}
	defer a.history.Release(1)
	return a.taker.Take(ctx)
}

// adoptRecords puts the tables of another database in the place of those of this service.
func (a *App) adoptRecords(ctx context.Context, database string) (err error) {
	if err := a.engines.SyncFiles(ctx); err != nil {
		return err
	}
	made, err := a.engines.Beside(database)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, made.Close()) }()
	return a.exchangeWriter.Hold(ctx, func() error {
		_, err := a.projector.Adopt(ctx, made)
		return err
	})
}

// giveRecords begins to give the tables of this node to others of its cluster that need them.
func (a *App) giveRecords(context.Context) error {
	if !a.options.Cluster.On() || a.options.ClickHouseDSN != "" {
		return nil
	}
	terms, err := a.terms()
	if err != nil {
		return err
	}
	log := a.stream()
	giver, err := records.StartGiver(records.GiverConfig{
		NATS: log.NATS, Prefix: log.Prefix, Self: log.Node, Terms: terms, Ready: a.mayGive, Freeze: a.freezeRecords,
		Thaw: func() error { return a.engines.Thaw(engine.PeerLinks) }, Now: a.options.Now, Logger: a.logger,
	})
	if err == nil {
		a.cleanups.Add("records for other nodes", giver.Stop)
	}
	return err
}

// mayGive says why other nodes should not take the tables of this one.
func (a *App) mayGive() error {
	if err := cmp.Or(a.records.Err(), a.caughtUp.Err()); err != nil {
		return err
	}
	if damage := a.checker.Last().Damage; len(damage) > 0 {
		return fmt.Errorf("its own tables are damaged: %s", damage[0])
	}
	return nil
}

// freezeRecords links the parts of the tables while nothing is folded.
func (a *App) freezeRecords(ctx context.Context) (position uint64, tables []engine.FrozenTable, err error) {
	err = a.projector.Hold(ctx, func(folded uint64) error {
		ctx, cancel := context.WithTimeout(ctx, linkTimeout)
		defer cancel()
		frozen, err := a.engines.Freeze(ctx, engine.PeerLinks, a.engines.Database())
		for _, t := range frozen {
			if !migrations.IsHistory(t.Name) {
				tables = append(tables, t)
			}
		}
		position = folded
		return err
	})
	return position, tables, err
}
