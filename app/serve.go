package app

import (
	"cmp"
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/ops"
	"github.com/errata-log/errata/web"
)

// listen builds the HTTP side and binds the address.
func (a *App) listen(context.Context) error {
	handler, err := a.handler()
	if err != nil {
		return err
	}
	if err := a.listenAt(api.ServerConfig{Addr: a.options.Listen, Handler: handler}); err != nil {
		return err
	}
	// A stream of the feed has no end of its own, so the feed closes before the
	// server waits for running requests.
	a.cleanups.AddPlain("feed", a.feed.Close)
	// Added last, so that it stops first: it ends the request that imports.
	a.cleanups.AddPlain("import", a.importer.Stop)
	return nil
}

// listenAt binds an address. The cleanup of the first server ends all of them.
func (a *App) listenAt(c api.ServerConfig) error {
	c.Logger, c.TLS, c.Setting = a.logger, a.certs.Server(), cmp.Or(c.Setting, "listen")
	c.Taken = cmp.Or(c.Taken, "perhaps another Errata; end it, or choose another address with --listen or ERRATA_LISTEN")
	server, err := api.NewServer(c)
	if err != nil {
		return err
	}
	if a.servers = append(a.servers, server); len(a.servers) == 1 {
		a.cleanups.Add("server", func(ctx context.Context) error { return a.servers.Finish(ctx, finishTimeout, a.logger) })
		a.certs.Start() // an ACME server connects to this address
		a.cleanups.Add("certificates", a.certs.Stop)
	}
	return nil
}

// listenOTLP binds the second address, if there is one.
func (a *App) listenOTLP(context.Context) error {
	if a.options.OTLPListen == "" {
		return nil
	}
	return a.listenAt(api.ServerConfig{Addr: a.options.OTLPListen, Handler: a.telemetry.Only(), Setting: "otlp-listen",
		Taken: "perhaps a collector; choose another one, or leave the setting empty, since " + a.options.Listen + " serves OTLP too"})
}

// handler joins the receivers, the API and the metrics.
func (a *App) handler() (http.Handler, error) {
	receivers, err := a.receivers()
	if err != nil {
		return nil, err
	}
	policyReports := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "errata_csp_reports_total", Help: "Breaches of the page's Content-Security-Policy, as browsers report them."})
	if err := ops.RegisterMetrics(a.registry, a.log, ops.NewDisk(a.engines.DiskRoom), policyReports, a.engines.ClickHouseMetrics()); err != nil {
		return nil, err
	}
	page, err := web.New()
	if err != nil {
		return nil, err
	}
	c := a.apiConfig(receivers, a.health())
	c.PublicURL, c.Web, c.PolicyReports = a.options.PublicURL, page, policyReports
	c.Projects = a.projects
	c.Records, c.Occurrences, c.Insights, c.Feed = a.reader, a.reader, a.reader, a.feed
	c.Changes, c.Requests = a.commander, a.answers
	c.Positions = ops.Positions{Projector: a.projector, Ready: []func() error{a.records.Err, a.caughtUp.Err}}
	c.LogSettings, c.Audit = a.settings, a.audit.Trail()
	c.Security, c.Challenges, c.SignIn = a.signIns, a.signIns, a.signIns
	c.Alerts, c.Deliveries = a.alerts, a.outbox
	c.Importer, c.Replayer, c.LogCare, c.Letters, c.Nodes = a.importer, a.replayer, a.logCare, a.letters, a.cluster
	c.Eraser = ops.Eraser{Commander: a.commander, Store: a.projector.Store(), Retention: a.retention}
	return api.New(c)
}

// apiConfig is what every node serves, an ingest node too.
func (a *App) apiConfig(receivers api.Receivers, health *ops.Health) api.Config {
	registry := a.options.Registry
	return api.Config{
		Version: a.options.Version, Keys: a.keys, Receivers: receivers, Health: health,
		Metrics:        promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry}),
		TrustedProxies: a.options.TrustedProxies,
		KeyRate:        a.options.AdminRateLimit, FailedAuthRate: api.DefaultFailedAuthRate,
		Logger: a.logger, Now: a.options.Now,
	}
}

func (a *App) health() *ops.Health {
	projection := ops.NewProjection(a.projector.Status, a.log)
	return ops.NewHealth(ops.HealthConfig{
		Ready: []func(context.Context) error{
			a.log.Ready, a.engines.Ready, func(context.Context) error { return a.records.Err() }, projection.Ready, a.caughtUp.Ready,
		},
		Engines: func(ctx context.Context) []errata.Check {
			return append(a.engines.Checks(ctx), a.cluster.Checks(ctx)...)
		},
		Checks: []func(context.Context) errata.Check{
			a.log.Check, a.engines.CheckTables, projection.Check, a.keys.Check, a.strays.Check,
			a.audit.Check, a.letters.Check, a.checker.Check, a.certs.Check,
		},
		Figures: &ops.Meter{Log: a.log, Projection: projection, Engines: a.engines, Metrics: a.options.Registry},
		Nodes:   a.cluster.Nodes,
		Alarms:  a.alarms,
	})
}

// announce writes the address of the service into the data folder and into the
// welcome.
func (a *App) announce(context.Context) error {
	if err := a.engines.WriteLogins(); err != nil {
		return err
	}
	w := &a.welcome
	local, named := a.certs.URLs(a.Addr())
	w.URL, w.Leaf = named, a.options.IsLeaf()
	var err error
	if w.DSN, err = access.WriteDSN(a.dir, a.keys, cmp.Or(a.options.PublicURL, named)); err != nil {
		return err
	}
	w.NotReachable = a.options.PublicURL == "" && local == named && !datadir.IsLoopback(a.Addr())
	w.AdminKeyFile, w.IngestKeyFile = a.dir.Find(datadir.AdminKeyFile), a.dir.Find(datadir.IngestKeyFile)
	if a.options.NATSListen != "" {
		w.NATSFile = a.dir.Join(datadir.NATSFile)
	}
	return a.dir.Announce(local)
}
