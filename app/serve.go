package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/native"
	"github.com/errata-log/errata/ingest/otlp"
	"github.com/errata-log/errata/ingest/sentry"
	"github.com/errata-log/errata/ops"
	"github.com/errata-log/errata/web"
)

// listen builds the HTTP side and binds the address.
func (a *App) listen(context.Context) error {
	handler, err := a.handler()
	if err != nil {
		return err
	}
	if err := a.listenAt(a.options.Listen, handler); err != nil {
		return err
	}
	// Streams have no end of their own: they end before requests are waited for.
	a.cleanups.addPlain("feed", a.feed.Close)
	// Added last, for it ends first: a request that imports ends with it.
	a.cleanups.addPlain("import", a.importer.Stop)
	return nil
}

// listenAt binds an address. All servers end together, in the step of the first.
func (a *App) listenAt(addr string, handler http.Handler) error {
	server, err := api.NewServer(api.ServerConfig{Addr: addr, Handler: handler, Logger: a.logger})
	if err != nil {
		return err
	}
	if a.servers = append(a.servers, server); len(a.servers) == 1 {
		a.cleanups.add("server", a.finishRequests)
	}
	return nil
}

// listenOTLP binds the second address, if there is one.
func (a *App) listenOTLP(context.Context) error {
	addr := a.options.OTLPListen
	if addr == "" {
		return nil
	}
	err := a.listenAt(addr, a.telemetry.Only())
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("otlp-listen: something else has the port of %s, perhaps a collector; choose another one, or leave the setting empty, since %s serves OTLP too: %w",
			addr, a.options.Listen, err)
	case err != nil:
		return fmt.Errorf("otlp-listen: %w", err)
	}
	return nil
}

// finishRequests takes no new requests and lets the running ones finish. Those
// that do not in time are cut off: their senders got no answer and send again,
// so that nothing is lost and nothing has failed.
func (a *App) finishRequests(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	err := a.servers.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		a.logger.Warn("cut off connections that did not finish", "after", finishTimeout)
		return nil
	}
	return err
}

// handler joins the receivers, the API and the metrics.
func (a *App) handler() (http.Handler, error) {
	receivers, err := a.receivers()
	if err != nil {
		return nil, err
	}
	registry := a.options.Registry
	policyReports := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "errata_csp_reports_total", Help: "Breaches of the page's Content-Security-Policy, as browsers report them."})
	if err := a.registerMetrics(policyReports); err != nil {
		return nil, err
	}
	page, err := web.New()
	if err != nil {
		return nil, err
	}
	return api.New(api.Config{
		Version: a.options.Version, PublicURL: a.options.PublicURL,
		Keys: a.keys, Records: a.reader, Health: a.health(), Receivers: receivers,
		Insights: a.reader,
		Changes:  a.commander, Requests: a.answers,
		LogSettings:    a.settings,
		Security:       a.signIns,
		Challenges:     a.signIns,
		SignIn:         a.signIns,
		Audit:          a.audit.Trail(),
		Web:            page,
		Feed:           a.feed,
		PolicyReports:  policyReports,
		Importer:       a.importer,
		Eraser:         ops.Eraser{Commander: a.commander, Store: a.projector.Store(), Retention: a.retention},
		Replayer:       a.replayer,
		LogCare:        a.logCare,
		Letters:        a.letters,
		Metrics:        promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry}),
		TrustedProxies: a.options.TrustedProxies,
		KeyRate:        a.options.AdminRateLimit, FailedAuthRate: api.DefaultFailedAuthRate,
		Logger: a.logger, Now: a.options.Now,
	})
}

// receivers are all that take events and entries.
func (a *App) receivers() (api.Receivers, error) {
	cfg := a.doorConfig()
	receivers, err := a.eventReceivers(cfg)
	if err != nil {
		return api.Receivers{}, err
	}
	receivers.ModuleLog, receivers.QueryLog, err = a.exchangeReceivers(cfg)
	return receivers, err
}

// doorConfig is what all receivers share, one budget of memory among it.
func (a *App) doorConfig() door.Config {
	return door.Config{
		Accepter: a.pipeline, Keyring: a.keyring, Switches: a.switches,
		TrustedProxies: a.options.TrustedProxies,
		Budget:         door.NewBudget(door.DefaultBudget), Quotas: a.quotas,
		Now: a.options.Now, Registerer: a.options.Registry, Logger: a.logger,
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

func (a *App) health() *ops.Health {
	projection := ops.NewProjection(a.projector.Status, a.log)
	return ops.NewHealth(ops.HealthConfig{
		Ready: []func(context.Context) error{
			a.log.Ready, a.engines.Ready, func(context.Context) error { return a.records.Err() }, projection.Ready,
		},
		Engines: a.engines.Checks,
		Checks: []func(context.Context) errata.Check{
			a.log.Check, a.engines.CheckTables, projection.Check, a.keys.Check, a.strays.Check,
			a.audit.Check, a.letters.Check, a.checker.Check,
		},
		Figures: &ops.Meter{Log: a.log, Projection: projection, Engines: a.engines, Metrics: a.options.Registry},
		Alarms:  a.alarms,
	})
}

// announce tells the data folder and the operator where the service is.
func (a *App) announce(context.Context) error {
	if err := a.engines.WriteLogins(); err != nil {
		return err
	}
	w := &a.welcome
	w.URL, w.Leaf = datadir.LocalURL(a.Addr().String()), a.options.IsLeaf()
	public := a.options.PublicURL
	if public == "" {
		public = w.URL
	}
	var err error
	if w.DSN, err = access.WriteDSN(a.dir, a.keys, public); err != nil {
		return err
	}
	w.NotReachable = a.options.PublicURL == "" && !datadir.IsLoopback(a.Addr())
	w.AdminKeyFile, w.IngestKeyFile = a.dir.Find(datadir.AdminKeyFile), a.dir.Find(datadir.IngestKeyFile)
	if a.options.NATSListen != "" {
		w.NATSFile = a.dir.Join(datadir.NATSFile)
	}
	return a.dir.Announce(w.URL)
}
