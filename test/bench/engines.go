package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/migrations"
)

// engines starts engines without a service on the data in the folder, for rows
// and ceilings that use the log itself.
func (b *bench) engines(dir string) (*engine.Engines, func() error, error) {
	ctx := context.Background()
	e, err := engine.Start(ctx, engine.Config{
		DataDir: dir, EngineBinary: b.engine, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, nil, err
	}
	stop := func() error {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		return e.Stop(ctx)
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
