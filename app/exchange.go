package app

import (
	"github.com/errata-log/errata/exchange"
	"github.com/errata-log/errata/ingest/body/door"
	"github.com/errata-log/errata/migrations"
)

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
		Switches: a.switches,
		Ready:    a.records.Err,
	}
	if modules, err = exchange.NewHandler(exchange.Modules, config); err != nil {
		return nil, nil, err
	}
	queries, err = exchange.NewHandler(exchange.Queries, config)
	return modules, queries, err
}
