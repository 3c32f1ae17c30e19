package app

import (
	"context"
	"fmt"
	"net/url"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest/leaf"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/ops"
)

// isLeaf says whether this is an ingest node: it takes events, keeps them on
// disk until its hub has them, and has no records.
func (o Options) isLeaf() bool { return o.NATSLeaf != "" }

// validateLeaf checks the settings of an ingest node.
func (o Options) validateLeaf() error {
	if !o.isLeaf() {
		return nil
	}
	u, err := url.Parse(o.NATSLeaf)
	switch {
	case err != nil || u.Scheme != "nats" || u.Host == "": // not shown, it may hold a password
		return fmt.Errorf("nats-leaf: want nats://%s:password@host:port, as it stands in %s of the hub", engine.LeafUser, datadir.LeafFile)
	case o.NATSURL != "":
		return fmt.Errorf("nats-leaf: an ingest node keeps events in the embedded NATS, and nats-url names another one")
	case o.ClickHouseDSN != "":
		return fmt.Errorf("nats-leaf: an ingest node has no records, and clickhouse-dsn says where to keep them")
	}
	return nil
}

// steps is how the service is built, in order.
func (a *App) steps() []step {
	if !a.options.isLeaf() {
		return a.allSteps()
	}
	return []step{
		{"data folder", a.openData},
		{"engines", a.startEngines},
		{"spool", a.openSpool},
		{"keys", a.openLeafKeys},
		{"log", a.openLog},
		{"watchdog", a.startWatchdog},
		{"ingest", a.openIngest},
		{"quotas", a.openQuotas},
		{"server", a.listenLeaf},
		{"address", a.announceLeaf},
	}
}

// step is one part of the start.
type step struct {
	name string
	do   func(context.Context) error
}

func (a *App) openSpool(ctx context.Context) error {
	return migrations.Spool(ctx, a.engines.JetStream(), a.engines.LogMaxBytes())
}

// openLeafKeys opens the copies of the keys that the hub sends.
func (a *App) openLeafKeys(ctx context.Context) error {
	bucket, err := a.keysBucket(ctx)
	if err != nil {
		return err
	}
	if a.keys, err = access.Open(ctx, access.Config{Bucket: bucket, Now: a.options.Now, Logger: a.logger}); err != nil {
		return err
	}
	a.cleanups.addPlain("keys", a.keys.Close)
	a.keyring = leaf.NewKeyring(keyring{a.keys}, bucket)
	return nil
}

// keysBucket is the bucket of API keys. That of an ingest node belongs to no
// namespace.
func (a *App) keysBucket(ctx context.Context) (jetstream.KeyValue, error) {
	name := migrations.KeysBucket(a.options.Namespace)
	if a.options.isLeaf() {
		name = migrations.KeysBucket("")
	}
	bucket, err := a.engines.JetStream().KeyValue(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("open the bucket of API keys: %w", err)
	}
	return bucket, nil
}

// listenLeaf builds the HTTP side of an ingest node and binds the address.
func (a *App) listenLeaf(context.Context) error {
	receivers, err := a.eventReceivers(a.doorConfig())
	if err != nil {
		return err
	}
	if err := a.registerMetrics(a.joinedGauge()); err != nil {
		return err
	}
	registry := a.options.Registry
	handler, err := api.New(api.Config{
		Leaf: true, Version: a.options.Version, Keys: a.keys, Receivers: receivers,
		Health:         a.leafHealth(),
		Metrics:        promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry}),
		TrustedProxies: a.options.TrustedProxies,
		KeyRate:        a.options.AdminRateLimit, FailedAuthRate: api.DefaultFailedAuthRate,
		Logger: a.logger, Now: a.options.Now,
	})
	if err != nil {
		return err
	}
	if a.server, err = api.NewServer(api.ServerConfig{Addr: a.options.Listen, Handler: handler, Logger: a.logger}); err != nil {
		return err
	}
	a.cleanups.add("server", a.finishRequests)
	return nil
}

func (a *App) joinedGauge() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "errata_leaf_joined", Help: "1 while this ingest node is connected to its hub.",
	}, func() float64 {
		if a.engines.Joined() {
			return 1
		}
		return 0
	})
}

// announceLeaf tells the data folder and the operator where the node is.
func (a *App) announceLeaf(context.Context) error {
	a.welcome.URL, a.welcome.Leaf = datadir.LocalURL(a.Addr().String()), true
	return a.dir.Announce(a.welcome.URL)
}

// leafHealth says how an ingest node is: ready when it takes events, whether or
// not its hub is there.
func (a *App) leafHealth() *ops.Health {
	keys := a.keyring.(*leaf.Keyring)
	return ops.NewHealth(ops.HealthConfig{
		Ready: []func(context.Context) error{a.log.Ready, keys.Ready}, Engines: a.engines.Checks,
		Checks: []func(context.Context) errata.Check{a.log.Check, a.engines.CheckHub, keys.Check}, Alarms: a.alarms,
	})
}

// spool says where the events of an ingest node are.
func (a *App) spool() eventlog.Log {
	return eventlog.Log{
		NATS: a.engines.NATS(), JetStream: a.engines.JetStream(),
		Stream: migrations.SpoolStream, Prefix: migrations.SpoolPrefix,
	}
}

// startHub begins to take the events of ingest nodes.
func (a *App) startHub(ctx context.Context) error {
	if a.options.NATSLeafListen == "" {
		return nil
	}
	keys, err := a.keysBucket(ctx)
	if err != nil {
		return err
	}
	kept, err := a.importsBucket(ctx)
	if err != nil {
		return err
	}
	hub, err := leaf.NewHub(leaf.Config{
		Log: a.stream(), Kept: kept, Keys: keys, Connected: a.engines.Leaves, Conn: a.engines.HubConn(),
		Spool: migrations.SpoolStream, CopiedKeys: migrations.KeysBucket(""),
		Now: a.options.Now, Logger: a.logger, Skipped: a.strays.In("log"), Registerer: a.options.Registry,
	})
	if err != nil {
		return err
	}
	hub.Start()
	a.cleanups.addPlain("ingest nodes", hub.Stop)
	return nil
}
