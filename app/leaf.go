package app

import (
	"context"
	"fmt"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/ingest/leaf"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/ops"
)

// steps are those of the start, in order.
func (a *App) steps() []step {
	if !a.options.IsLeaf() {
		return a.allSteps()
	}
	return []step{
		{"data folder", a.openData},
		{"certificates", a.openCertificates},
		{"engines", a.startEngines},
		{"streams", a.migrateSpool},
		{"keys", a.openLeafKeys},
		{"log", a.openLog},
		{"watchdog", a.startWatchdog},
		{"quotas", a.openQuotas},
		{"ingest", a.openIngest},
		{"server", a.listenLeaf},
		{"address", a.announce},
	}
}

// step is one part of the start.
type step struct {
	name string
	do   func(context.Context) error
}

// migrateSpool makes the stream that keeps the events until the hub has them.
func (a *App) migrateSpool(ctx context.Context) error {
	return migrations.Spool(ctx, a.engines.JetStream(), a.engines.LogMaxBytes())
}

// openLeafKeys opens the copies of the keys that the hub sends. Their bucket
// belongs to no namespace.
func (a *App) openLeafKeys(ctx context.Context) error {
	bucket, err := a.engines.JetStream().KeyValue(ctx, migrations.KeysBucket(""))
	if err != nil {
		return fmt.Errorf("open the bucket of API keys: %w", err)
	}
	if a.keys, err = access.Open(ctx, access.Config{Bucket: bucket, Now: a.options.Now, Logger: a.logger}); err != nil {
		return err
	}
	a.cleanups.AddPlain("keys", a.keys.Close)
	a.keyring, a.asked = leaf.NewKeyring(a.keys, bucket), leaf.NewProjects(a.keys.Settings).AtDoor
	return nil
}

// listenLeaf builds the HTTP side of an ingest node and binds the address.
func (a *App) listenLeaf(context.Context) error {
	receivers, err := a.eventReceivers(a.doorConfig())
	if err != nil {
		return err
	}
	if err := ops.RegisterMetrics(a.registry, a.log, ops.NewDisk(a.engines.DiskRoom)); err != nil {
		return err
	}
	c := a.apiConfig(receivers, a.leafHealth())
	c.Leaf = true
	handler, err := api.New(c)
	if err != nil {
		return err
	}
	return a.listenAt(api.ServerConfig{Addr: a.options.Listen, Handler: handler})
}

// leafHealth is the health of an ingest node. The node is ready when it takes
// events, also while its hub is away.
func (a *App) leafHealth() *ops.Health {
	keys := a.keyring.(*leaf.Keyring)
	return ops.NewHealth(ops.HealthConfig{
		Ready: []func(context.Context) error{a.log.Ready, keys.Ready}, Engines: a.engines.Checks,
		Checks: []func(context.Context) errata.Check{a.log.Check, a.engines.CheckHub, keys.Check, a.certs.Check}, Alarms: a.alarms,
	})
}

// startHub begins to take the events of ingest nodes.
func (a *App) startHub(context.Context) error {
	if a.options.NATSLeafListen == "" {
		return nil
	}
	hub, err := leaf.NewHub(leaf.Config{
		Log: a.stream(), Kept: a.imports, Keys: a.keysBucket, Projects: a.projects.AtDoors, Connected: a.engines.NATS.Leaves, Conn: a.engines.NATS.HubConn(),
		Spool: migrations.SpoolStream, CopiedKeys: migrations.KeysBucket(""),
		Now: a.options.Now, Logger: a.logger, Skipped: a.strays.In("log"), Registerer: a.registry,
	})
	if err != nil {
		return err
	}
	hub.Start()
	a.cleanups.Add("ingest nodes", hub.Stop)
	return nil
}
