package app

import (
	"context"
	"crypto/rand"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/natsin"
	"github.com/errata-log/errata/ingest/quota"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/settings"
)

// openIngest makes the one pipeline that all ways in share.
func (a *App) openIngest(context.Context) (err error) {
	a.pipeline, err = ingest.New(ingest.Config{
		Log: a.log, Random: rand.Reader,
		Rules:    a.rules,
		Switches: a.switches,
		Logger:   a.logger, Registerer: a.options.Registry,
	})
	return err
}

// setLimits puts the limits that a replay must know on the log, unless they stand
// there. A log that takes nothing is no reason not to start: those that stand
// there stay in force, and the next start tries again.
func (a *App) setLimits(ctx context.Context) error {
	err := a.settings.SetLimits(ctx, settings.Limits{NewRecordsPerHour: uint64(a.options.NewRecordsPerHour)})
	if err != nil {
		a.logger.Warn("new-records-per-hour could not be put on the log; the value before stays in force until the next start",
			"value", a.options.NewRecordsPerHour, "error", err)
	}
	return nil
}

// openQuotas makes the buckets that all ways in share.
func (a *App) openQuotas(context.Context) (err error) {
	a.quotas, err = quota.New(quota.Config{
		KeyPerMinute: a.options.KeyEventsPerMinute, ProjectPerMinute: a.options.ProjectEventsPerMinute,
		Now: a.options.Now, Registerer: a.options.Registry,
	})
	return err
}

// startNATSIn begins to take what applications publish, to whatever NATS there is.
func (a *App) startNATSIn(context.Context) error {
	a.letters = natsin.NewLetters(a.queues(), a.rules)
	receiver, err := natsin.New(natsin.Config{
		Queues: a.queues(), Log: a.stream(), Accepter: a.pipeline, Rules: a.rules, Kept: a.imports, Project: a.options.NATSProject, Quotas: a.quotas,
		Now: a.options.Now, Logger: a.logger, Registerer: a.options.Registry, Skipped: a.strays.In("log"),
	})
	if err != nil {
		return err
	}
	receiver.Start()
	a.cleanups.add("events from NATS", receiver.Stop)
	return nil
}

// queues says where published events and refused messages are.
func (a *App) queues() natsin.Queues {
	return natsin.Queues{
		JetStream: a.engines.JetStream(), Prefix: migrations.SubjectPrefix(a.options.Namespace),
		Intake: migrations.IntakeStream(a.options.Namespace), Dead: migrations.DeadStream(a.options.Namespace),
	}
}
