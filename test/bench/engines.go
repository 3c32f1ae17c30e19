package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/migrations"
)

// engines starts engines without a service on the data in the folder, for rows
// and ceilings that use the log itself.
func (b *bench) engines(dir string) (*engine.Engines, func() error, error) {
	ctx := context.Background()
	held, err := datadir.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	e, err := engine.Start(ctx, engine.Config{
		Dir: held, Options: engine.Options{EngineBinary: b.engine}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, nil, errors.Join(err, held.Close())
	}
	stop := func() error {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		return errors.Join(e.Stop(ctx), held.Close())
	}
	err = errors.Join(
		migrations.ClickHouse(ctx, e.ClickHouseOptions()),
		migrations.Log(ctx, e.JetStream(), migrations.LogConfig{MaxBytes: e.LogMaxBytes()}),
	)
	if err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return e, stop, nil
}
