package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"

	"github.com/errata-log/errata/certs"
	"github.com/errata-log/errata/datadir"
)

// bucketRoom is the room in bytes for the buckets and their history, beside the log.
// Log and bucketRoom together are max_file_store, so that JetStream refuses messages
// with an error code before the disk is full, which would stop JetStream.
const bucketRoom = 1 << 30

// Engines are the two running engines. They are safe for concurrent use. The
// connections stay the same for as long as the engines run.
type Engines struct {
	// NATS holds the log.
	NATS *NATS

	cfg        Config
	certs      *certs.Certificates // of NATS, nil without TLS
	clickhouse *ClickHouse
	analysts   *analysts // nil without an address for them

	stopOnce sync.Once
	stopErr  error
}

// Start starts both engines and returns when they answer. The context bounds the
// start only; Stop ends the engines.
func Start(ctx context.Context, cfg Config) (_ *Engines, err error) {
	cfg, err = cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &Engines{cfg: cfg}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Stop(context.WithoutCancel(ctx)))
		}
	}()

	if err = e.startBoth(ctx); err != nil {
		return nil, err
	}
	if cfg.IsLeaf() && cfg.Registerer != nil {
		if err = cfg.Registerer.Register(e.NATS.joinedGauge()); err != nil {
			return nil, fmt.Errorf("engine: register metrics: %w", err)
		}
	}
	return e, nil
}

// startBoth starts the engines at the same time: after a power cut NATS reads all of its log,
// while ClickHouse loads its library. An ingest node has NATS alone.
func (e *Engines) startBoth(ctx context.Context) error {
	if e.cfg.LogMaxBytes == 0 {
		e.cfg.LogMaxBytes = defaultLogMaxBytes(e.cfg.path(""), e.cfg.NATSURL == "")
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return e.startNATS(ctx) })
	if !e.cfg.IsLeaf() {
		group.Go(func() error { return e.startClickHouse(ctx) })
	}
	return group.Wait()
}

// nats says which NATS to use. The embedded one is not open to others yet.
func (c Config) nats() NATSConfig {
	return NATSConfig{
		URL:            c.NATSURL,
		ConnectTimeout: c.ConnectTimeout,
		StoreDir:       c.path(datadir.NATSDir),
		MaxStore:       c.LogMaxBytes + bucketRoom + c.Cluster.spoolRoom(),
		LazySync:       c.LazySync,
		Cluster:        c.Cluster,
		Logger:         c.Logger,
	}
}

func (e *Engines) startNATS(ctx context.Context) (err error) {
	cfg := e.cfg.nats()
	cfg.Clients = NATSClients{Addr: e.cfg.NATSListen, Publish: e.cfg.Publish}
	cfg.Leaves, cfg.Hub = NATSLeaves{Addr: e.cfg.NATSLeafListen}, NATSHub{URL: e.cfg.NATSLeaf}
	if e.cfg.NATSURL == "" {
		if cfg.self, err = cfg.Cluster.claim(ctx, e.cfg.Dir); err != nil {
			return err
		}
	}
	if err := cfg.readLogins(e.cfg.Dir); err != nil {
		return err
	}
	if err := e.openCertificates(&cfg); err != nil {
		return err
	}
	e.NATS, err = StartNATS(ctx, cfg)
	if errors.Is(err, ErrLeft) {
		err = errors.Join(err, membership{Name: cfg.Cluster.Name, Node: cfg.self, Left: true}.write(e.cfg.Dir))
	}
	return err
}

func (e *Engines) startClickHouse(ctx context.Context) (err error) {
	password := ""
	if e.cfg.ClickHouseDSN == "" {
		if password, err = analystPassword(e.cfg.path(datadir.AnalystFile)); err != nil {
			return fmt.Errorf("engine: %w", err)
		}
	}
	e.clickhouse, err = StartClickHouse(ctx, ClickHouseConfig{
		DSN:            e.cfg.ClickHouseDSN,
		Database:       e.cfg.Database,
		ConnectTimeout: e.cfg.ConnectTimeout,
		DataDir:        e.cfg.path(clickhouseDir),
		RunDir:         e.cfg.path("run"),
		EngineBinary:   e.cfg.EngineBinary,
		Library:        e.cfg.LibCHDB,
		Memory:         e.cfg.ClickHouseMemory,
		Later:          e.cfg.ClickHouseLater,
		Logger:         e.cfg.Logger,
		Registerer:     e.cfg.Registerer,

		AnalystPassword: password,
	})
	if err == nil && e.cfg.ClickHouseListen != "" {
		err = e.openForAnalysts()
	}
	return err
}

func (e *Engines) openForAnalysts() (err error) {
	var shown *certs.Certificates
	if files := e.cfg.ClickHouseFiles(); files.Cert != "" {
		if shown, err = certs.OpenClickHouse(files, certs.Config{Logger: e.cfg.Logger, Registerer: e.cfg.Registerer}); err != nil {
			return err
		}
	}
	e.analysts, err = listenForAnalysts(e.cfg.ClickHouseListen, shown, e.clickhouse.child.dial, e.cfg.Logger)
	return err
}

// AnalystAddr is the address at which analysts reach the embedded ClickHouse, nil for
// none.
func (e *Engines) AnalystAddr() net.Addr {
	if e.analysts == nil {
		return nil
	}
	return e.analysts.listener.Addr()
}

// JetStream is the JetStream side of the connection to NATS.
func (e *Engines) JetStream() jetstream.JetStream { return e.NATS.JetStream() }

// ClickHouse is the connection to ClickHouse over the native protocol, with the
// database selected and asynchronous inserts off. It survives restarts of the
// embedded engine: a query under way fails, the next one works.
func (e *Engines) ClickHouse() driver.Conn { return e.clickhouse.Conn() }

// ReadOnlyClickHouse is a second connection, for the queries of people. They can
// change nothing and are bounded: to 10 s unless the context has a deadline, which
// may be at most 115 s away, and to a quarter of the engine's memory.
func (e *Engines) ReadOnlyClickHouse() driver.Conn { return e.clickhouse.ReadOnly() }

// ClickHouseOptions are the options of [Engines.ClickHouse], to open another
// connection with.
func (e *Engines) ClickHouseOptions() *clickhouse.Options { return e.clickhouse.Options() }

// Database is the name of the ClickHouse database.
func (e *Engines) Database() string { return e.clickhouse.Database() }

// Views is the name of the ClickHouse database of the views for analysts.
func (e *Engines) Views() string { return ViewsDatabase(e.clickhouse.Database()) }

// LogMaxBytes is the room of the log in bytes, as configured or as the disk
// allows.
func (e *Engines) LogMaxBytes() int64 { return e.cfg.LogMaxBytes }

// EmbeddedClickHouse is the process id of the embedded ClickHouse. ok is false
// when ClickHouse is external, and while it restarts.
func (e *Engines) EmbeddedClickHouse() (pid int, ok bool) { return e.clickhouse.Process() }

// ClickHouseMetrics are errata_clickhouse_process_…, of the process of the embedded ClickHouse;
// none while there is no such process.
func (e *Engines) ClickHouseMetrics() prometheus.Collector {
	return collectors.NewProcessCollector(collectors.ProcessCollectorOpts{Namespace: "errata_clickhouse", PidFn: func() (int, error) {
		pid, ok := e.EmbeddedClickHouse()
		if !ok {
			return 0, errors.New("no embedded ClickHouse runs")
		}
		return pid, nil
	}})
}

// Stop ends both engines: ClickHouse first, then NATS, because the projection
// follows the log. It may be called more than once; later calls return the error of
// the first.
func (e *Engines) Stop(ctx context.Context) error {
	e.stopOnce.Do(func() {
		var errs []error
		if e.analysts != nil {
			errs = append(errs, e.analysts.stop(ctx))
		}
		if e.clickhouse != nil {
			errs = append(errs, e.clickhouse.Stop(ctx))
		}
		if e.NATS != nil {
			errs = append(errs, e.NATS.Stop(ctx))
		}
		errs = append(errs, e.certs.Stop(ctx))
		e.stopErr = errors.Join(errs...)
	})
	return e.stopErr
}
