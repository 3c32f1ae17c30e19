package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"sync/atomic"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/ops"
)

// leafIDFile holds the id of an ingest node. The hub counts the node's events by
// it, so it must not be copied to another one.
const leafIDFile = "leaf.id"

// leafIDSize is how much of chance an id has, 5 bits a character.
const leafIDSize = 16

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
		return fmt.Errorf("nats-leaf: want nats://%s:password@host:port, as it stands in %s of the hub", engine.LeafUser, LeafFile)
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

// natsHub makes the embedded NATS a leaf of the hub's, if that is wanted.
func (a *App) natsHub() (hub engine.NATSHub, err error) {
	if !a.options.isLeaf() {
		return hub, nil
	}
	hub.URL = a.options.NATSLeaf
	hub.ID, err = leafIDOf(a.dir.join(leafIDFile))
	return hub, err
}

// leafIDOf is the id in the file, a new one when there is no such file.
func leafIDOf(path string) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		id := strings.ToLower(rand.Text()[:leafIDSize])
		return id, writeFile(path, id+"\n")
	}
	if err != nil {
		return "", fmt.Errorf("read the id of this node: %w", err)
	}
	id := strings.TrimSpace(string(text))
	if !engine.ValidLeaf(id) {
		return "", fmt.Errorf("%s holds no id of a node: restore it, or remove it once the spool is empty", path)
	}
	return id, nil
}

func (a *App) openSpool(ctx context.Context) error {
	return migrations.Spool(ctx, a.engines.JetStream(), a.engines.LogMaxBytes())
}

// openLeafKeys opens the copies of the keys that the hub sends.
func (a *App) openLeafKeys(ctx context.Context) error {
	bucket, err := a.engines.JetStream().KeyValue(ctx, migrations.KeysBucket(""))
	if err != nil {
		return fmt.Errorf("open the bucket of API keys: %w", err)
	}
	if a.keys, err = access.Open(ctx, access.Config{Bucket: bucket, Now: a.options.Now, Logger: a.logger}); err != nil {
		return err
	}
	a.cleanups.addPlain("keys", a.keys.Close)
	a.keyring = &leafKeyring{keyring: keyring{a.keys}, bucket: bucket}
	return nil
}

// leafKeyring is the keys of an ingest node. Until the hub has sent all of them
// once, a key that is not there may be good: its sender is told to come back,
// because SDKs throw away what is refused.
type leafKeyring struct {
	keyring
	bucket jetstream.KeyValue
	copied atomic.Bool
}

var _ ingest.Keyring = (*leafKeyring)(nil)

// ByToken finds the grant of an API key.
func (k *leafKeyring) ByToken(token string) (ingest.Grant, error) {
	grant, err := k.keyring.ByToken(token)
	return grant, k.orUnknown(err)
}

// ByPublicKey finds the grant of the key in a DSN.
func (k *leafKeyring) ByPublicKey(publicKey string, project uint64) (ingest.Grant, error) {
	grant, err := k.keyring.ByPublicKey(publicKey, project)
	return grant, k.orUnknown(err)
}

func (k *leafKeyring) orUnknown(err error) error {
	if err == nil {
		return nil
	}
	if unknown := k.known(context.Background()); unknown != nil {
		return unknown
	}
	return err
}

// known is nil once all keys have come from the hub. Kind: log_unavailable.
func (k *leafKeyring) known(ctx context.Context) error {
	if k.copied.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, ops.ProbeTimeout)
	defer cancel()
	copied, err := access.Copied(ctx, k.bucket)
	if err == nil && copied {
		k.copied.Store(true)
		return nil
	}
	waiting := errata.Errorf(errata.KindLogUnavailable, "This ingest node has no keys yet: it gets them when it reaches its hub for the first time. Send again.")
	if err != nil {
		return waiting.Because(err)
	}
	return waiting
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
	a.welcome.URL, a.welcome.Leaf = LocalURL(a.Addr().String()), true
	return a.dir.announce(a.welcome.URL)
}

// leafHealth says how an ingest node is: ready when it takes events, whether or
// not its hub is there.
func (a *App) leafHealth() *ops.Health {
	keys := a.keyring.(*leafKeyring)
	return ops.NewHealth(ops.HealthConfig{
		Ready: []func(context.Context) error{a.log.Ready, keys.known}, Engines: a.engines.Checks,
		Checks: []func(context.Context) errata.Check{a.log.Check, a.checkHub, keys.check}, Alarms: a.alarms,
	})
}

func (a *App) checkHub(context.Context) errata.Check {
	c := errata.Check{Name: "hub", OK: a.engines.Joined(), Detail: "connected"}
	if !c.OK {
		c.Detail, c.Hint = "not connected", "events are kept here until it is; does the hub run, and is nats-leaf what stands in its "+LeafFile+"?"
	}
	return c
}

func (k *leafKeyring) check(ctx context.Context) errata.Check {
	c := errata.Check{Name: "keys", OK: true, Detail: "copied from the hub"}
	if err := k.known(ctx); err != nil {
		c.OK, c.Detail, c.Hint = false, err.Error(), "let this node reach its hub once"
	}
	return c
}

// spool says where the events of an ingest node are.
func (a *App) spool() eventlog.Log {
	return eventlog.Log{
		NATS: a.engines.NATS(), JetStream: a.engines.JetStream(),
		Stream: migrations.SpoolStream, Prefix: migrations.SpoolPrefix,
	}
}
