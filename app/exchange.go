package app

import (
	"context"

	"github.com/errata-log/errata/exchange"
	"github.com/errata-log/errata/ingest/body/door"
	"github.com/errata-log/errata/migrations"
)

// startExchange begins to write the module and query logs. It comes before the
// doors: how far the logs are written is found out while nobody adds to them.
func (a *App) startExchange(ctx context.Context) error {
	writer, err := exchange.NewWriter(ctx, exchange.WriterConfig{
		Stream: a.exchanges(), ClickHouse: a.engines.ClickHouse(),
		ModuleDays: a.options.ModuleLogDays, QueryDays: a.options.QueryLogDays,
		Now: a.options.Now, Logger: a.logger, Registerer: a.options.Registry, Skipped: a.strays.In("exchanges"),
	})
	if err != nil {
		return err
	}
	writer.Start()
	a.cleanups.add("module and query logs", writer.Stop)
	return nil
}

// exchanges says where the entries of the two logs wait.
func (a *App) exchanges() exchange.Stream {
	return exchange.Stream{
		JetStream: a.engines.JetStream(),
		Name:      migrations.ExchangesStream(a.options.Namespace), Prefix: migrations.SubjectPrefix(a.options.Namespace),
	}
}

// exchangeDoors are the receivers of the two logs.
func (a *App) exchangeDoors(cfg door.Config) (modules, queries *exchange.Handler, err error) {
	config := exchange.Config{
		Door: cfg, Stream: a.exchanges(),
		Rules:    a.rules,
		Switches: a.exchangeSwitches,
	}
	if modules, err = exchange.NewHandler(exchange.Modules, config); err != nil {
		return nil, nil, err
	}
	queries, err = exchange.NewHandler(exchange.Queries, config)
	return modules, queries, err
}

// exchangeSwitches are the settings as the two logs see them.
func (a *App) exchangeSwitches() exchange.Switches {
	l := &a.settings.Snapshot().Logging
	return exchange.Switches{ModuleLog: l.ModuleLog, QueryLog: l.QueryLogging, QueryAllowed: l.QueryAllowed}
}
