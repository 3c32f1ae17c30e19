package app

import (
	"context"
	"crypto/rand"
	"net/http"

	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/exchange"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/native"
	"github.com/errata-log/errata/ingest/natsin"
	"github.com/errata-log/errata/ingest/otlp"
	"github.com/errata-log/errata/ingest/quota"
	"github.com/errata-log/errata/ingest/sentry"
	"github.com/errata-log/errata/migrations"
)

// openIngest makes the one pipeline that all receivers share.
func (a *App) openIngest(context.Context) (err error) {
	a.pipeline, err = ingest.New(ingest.Config{
		Log: a.log, Random: rand.Reader,
		Rules: a.rules, Noise: a.noise, RetentionDays: a.asked.RetentionDays, Context: a.asked.Context, UserKey: a.keys.UserKey,
		Switches: a.switches,
		Logger:   a.logger, Registerer: a.registry,
	})
	return err
}

// openQuotas makes the quotas and the noise rules that all receivers share.
func (a *App) openQuotas(context.Context) (err error) {
	a.quotas, err = quota.New(quota.Config{
		KeyPerMinute: a.options.KeyEventsPerMinute, ProjectPerMinute: a.options.ProjectEventsPerMinute,
		OfProject: a.asked.EventsPerMinute, Now: a.options.Now, Registerer: a.registry,
	})
	a.noise = &ingest.Noise{Rules: a.asked.Rules, Dropped: a.quotas.Dropped}
	return err
}

// startNATSIn begins to take what applications publish to NATS, embedded or
// external.
func (a *App) startNATSIn(context.Context) error {
	a.letters = natsin.NewLetters(a.queues(), a.rules)
	receiver, err := natsin.New(natsin.Config{
		Queues: a.queues(), Log: a.stream(), Accepter: a.pipeline, Rules: a.rules, Kept: a.imports, Project: a.options.NATSProject, Archived: a.asked.Archived, Quotas: a.quotas,
		Now: a.options.Now, Logger: a.logger, Registerer: a.registry, Skipped: a.strays.In("log"),
	})
	if err != nil {
		return err
	}
	receiver.Start()
	a.cleanups.Add("events from NATS", receiver.Stop)
	return nil
}

// queues names the streams of published events and of dead letters.
func (a *App) queues() natsin.Queues {
	return natsin.Queues{
		JetStream: a.engines.JetStream(), Prefix: migrations.SubjectPrefix(a.options.Namespace),
		Intake: migrations.IntakeStream(a.options.Namespace), Dead: migrations.DeadStream(a.options.Namespace),
	}
}

// receivers are those of events, and those of the module and query logs.
func (a *App) receivers() (api.Receivers, error) {
	cfg := a.doorConfig()
	receivers, err := a.eventReceivers(cfg)
	if err != nil {
		return api.Receivers{}, err
	}
	receivers.ModuleLog, receivers.QueryLog, err = a.exchangeReceivers(cfg)
	return receivers, err
}

// doorConfig is what all HTTP receivers share, such as one budget of memory.
func (a *App) doorConfig() door.Config {
	return door.Config{
		Accepter: a.pipeline, Keyring: a.keyring, Archived: a.asked.Archived, Switches: a.switches,
		TrustedProxies: a.options.TrustedProxies,
		Budget:         door.NewBudget(door.DefaultBudget), Quotas: a.quotas,
		Now: a.options.Now, Registerer: a.registry, Logger: a.logger,
	}
}

// eventReceivers are the receivers of events.
func (a *App) eventReceivers(cfg door.Config) (api.Receivers, error) {
	events, err := native.New(cfg)
	if err != nil {
		return api.Receivers{}, err
	}
	envelopes, err := sentry.New(cfg)
	if err != nil {
		return api.Receivers{}, err
	}
	a.telemetry, err = otlp.New(otlp.Config{Config: cfg, SpanExceptions: otlp.SpanExceptions(a.options.OTLPSpanExceptions)})
	if err != nil {
		return api.Receivers{}, err
	}
	return api.Receivers{
		Native:         events,
		SentryEnvelope: envelopes, SentryStore: envelopes,
		OTLPLogs: a.telemetry, OTLPTraces: a.telemetry, OTLPMetrics: a.telemetry,
	}, nil
}

// exchanges names the stream in which entries of the module and query logs wait.
func (a *App) exchanges() exchange.Stream {
	return exchange.Stream{
		JetStream: a.engines.JetStream(),
		Name:      migrations.ExchangesStream(a.options.Namespace), Prefix: migrations.SubjectPrefix(a.options.Namespace),
	}
}

// exchangeReceivers are the receivers of the module and query logs.
func (a *App) exchangeReceivers(cfg door.Config) (modules, queries http.Handler, err error) {
	config := exchange.Config{Door: cfg, Stream: a.exchanges(), Rules: a.rules, Switches: a.switches, Ready: a.records.Err}
	if modules, err = exchange.NewHandler(exchange.Modules, config); err != nil {
		return nil, nil, err
	}
	queries, err = exchange.NewHandler(exchange.Queries, config)
	return modules, queries, err
}
