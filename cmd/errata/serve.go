package main

import (
	"context"
	"sync"

	"github.com/spf13/cobra"

	"github.com/errata-log/errata/app"
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/internal/memory"
)

const serveHelp = `Starts the service and keeps it in the foreground until SIGTERM or ^C, which
finishes what is under way and stops within ten seconds. A second signal ends
it at once; what was answered with success is safe even then.

Without --nats-url and --clickhouse-dsn the engines are embedded: NATS JetStream
in this process, ClickHouse as a child process that ends with it. Everything is
kept in the data folder, which one service at a time may use:

  DATA/keys      the first admin key, ingest key and DSN, written on the first start
  DATA/nats      the log: every event, in one order
  DATA/clickhouse  the records, folded from the log

Each setting can also be given in the environment, by the name in brackets, or
in the configuration file, by the name of the flag.`

func newServe(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Start the service",
		Long:  serveHelp,
		RunE: configured(t, func(cmd *cobra.Command, c *config, _ []string) error {
			return serve(cmd.Context(), t, c)
		}),
	}
	addSettings(cmd)
	return cmd
}

// serve runs the service until ctx ends.
func serve(ctx context.Context, t *terminal, c *config) error {
	logger := newLogger(t.err, c.logLevel, c.logFormat)
	sized := memory.Size(t.lookup, c.service.ClickHouseDSN == "", logger)
	c.service.ClickHouseMemory = sized.Engine
	background.WakeTogether()
	served, end := context.WithCancel(ctx)
	var tending sync.WaitGroup
	tending.Go(func() { sized.Tend(served) })
	defer func() {
		end()
		tending.Wait()
	}()
	if c.openSecret != "" {
		logger.Warn("the configuration file holds a password and can be read by other users; make it 0600", "file", c.openSecret)
	}
	for _, s := range c.strays {
		logger.Warn("a variable of the environment is passed over", "variable", s.String())
	}
	c.service.Logger = logger
	c.service.Version = thisBuild().Version
	service, err := app.New(ctx, c.service)
	if err != nil {
		if ctx.Err() != nil {
			return nil // told to stop while starting, and New has undone its steps
		}
		return err
	}
	if err := printBanner(t.out, t.program, service.Welcome()); err != nil {
		logger.Warn("standard output is gone", "error", err)
	}
	return service.Run(ctx)
}
