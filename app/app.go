package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/alerts/outbox"
	alertservice "github.com/errata-log/errata/alerts/service"
	"github.com/errata-log/errata/alerts/ticker"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/api/kept"
	"github.com/errata-log/errata/audit"
	"github.com/errata-log/errata/certs"
	"github.com/errata-log/errata/cluster"
	"github.com/errata-log/errata/cluster/records"
	"github.com/errata-log/errata/datadir"
	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/exchange"
	"github.com/errata-log/errata/feed"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/natsin"
	"github.com/errata-log/errata/ingest/otlp"
	"github.com/errata-log/errata/ingest/quota"
	"github.com/errata-log/errata/internal/background"
	"github.com/errata-log/errata/logcare"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/ops"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/projects"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/selfcheck"
	"github.com/errata-log/errata/settings"
	"github.com/errata-log/errata/signin/service"
	"github.com/errata-log/errata/standby"
	"github.com/errata-log/errata/stray"
)

// App is a service that has been built and listens. It serves in Run.
type App struct {
	options  Options
	logger   *slog.Logger
	cleanups background.Cleanups
	life     life
	registry *ops.Attempts // of the metrics
	// alarms are raised by the parts that find something wrong.
	alarms *ops.Alarms
	// strays counts the messages in our streams that the readers leave out.
	strays *stray.Counter

	// What the steps make, in their order.
	dir     *datadir.Dir
	engines *engine.Engines
	certs   *certs.Certificates // nil without TLS
	// keysBucket holds the API keys. imports holds what was put on the log, and keeps
	// that when the log is purged.
	keysBucket, imports jetstream.KeyValue

	keys      *access.Store
	logCare   *logcare.Keeper
	projector *projector.Projector
	cluster   *cluster.Members // nil outside of a cluster
	caughtUp  *ops.CaughtUp    // likewise
	tables    *records.Node    // likewise
	// records knows whether the parts that need ClickHouse are up.
	records        *standby.Phase
	exchangeWriter *exchange.Writer
	commander      *eventlog.Commander
	audit          *audit.Auditor
	log            *ops.Log
	answers        *kept.Answers
	settings       *settings.Store
	projects       *projects.Service // nil on an ingest node
	asked          ingest.Projects
	noise          *ingest.Noise
	switches       func() errata.Logging // nil on an ingest node, whose hub applies them
	pipeline       *ingest.Pipeline
	quotas         *quota.Quotas
	letters        *natsin.Letters
	signIns        *service.Service
	importer       *ops.Importer
	retention      *ops.Retention
	replayer       *ops.Replayer
	checker        *selfcheck.Checker // nil on an ingest node
	firstLook      *selfcheck.FirstLook
	// rules are the same for receivers, imports and dead letters.
	rules ingest.Rules
	// history is held by whoever purges the log, or reads it from its first fact on.
	history   ops.Turn
	reader    *query.Reader
	feed      *feed.Feed
	alerts    *alertservice.Service
	outbox    *outbox.Outbox
	ticker    *ticker.Ticker
	telemetry *otlp.Handler
	// servers are one for Listen, and one for OTLPListen if it is set.
	servers api.Servers

	keyring ingest.Keyring // of the receivers

	welcome Welcome
}

// Welcome is what to tell the operator once the service listens.
type Welcome struct {
	// First is set when this start made the first keys.
	First bool
	// URL is the service as seen from this machine.
	URL string
	// AdminKeyFile and IngestKeyFile are absolute paths, "" when there is no
	// such file.
	AdminKeyFile, IngestKeyFile string
	// DSN is that of the first ingest key, "" when its file is gone.
	DSN string
	// NATSFile is the absolute path of the file that says where to publish
	// events to NATS, "" when the embedded one is not open to applications.
	NATSFile string
	// Leaf says that this is an ingest node.
	Leaf bool
	// NotReachable says that the DSN names loopback although the service
	// listens for other machines too.
	NotReachable bool
}

// New builds the service and binds its address. ctx bounds the start only. A
// start that fails stops all that it has started. The caller of New calls Run or
// Stop.
func New(ctx context.Context, o Options) (_ *App, err error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	a := &App{options: o, logger: o.Logger, history: ops.NewTurn(), cleanups: background.NewCleanups(o.Logger)}
	if a.rules, err = ingest.NewRules(o.InstallRoots, o.Scrub); err != nil {
		return nil, err
	}
	a.registry = ops.NewAttempts(o.Registry)
	if a.alarms, err = ops.NewAlarms(a.registry, o.Now, o.Logger); err != nil {
		return nil, err
	}
	if a.strays, err = stray.New(a.registry, o.Logger); err != nil {
		return nil, err
	}
	a.registry.Keep()
	for _, step := range a.steps() {
		began := time.Now()
		if err := a.engines.Settled(ctx, a.attempt(step)); err != nil {
			// It stops what it has started. ctx may have ended, which is one reason for a failure.
			return nil, errors.Join(err, a.Stop(context.WithoutCancel(ctx)))
		}
		a.logger.Debug("started", "part", step.name, "took", time.Since(began))
	}
	return a, nil
}

// attempt does the step so that it can be done again when it has failed.
func (a *App) attempt(s step) func(context.Context) error {
	return func(ctx context.Context) error {
		err := s.do(ctx)
		if err != nil {
			a.registry.Undo()
		} else {
			a.registry.Keep()
		}
		return err
	}
}

// allSteps are those of a service that keeps its own records.
func (a *App) allSteps() []step {
	return []step{
		{"data folder", a.openData},
		{"certificates", a.openCertificates},
		{"engines", a.startEngines},
		{"streams", a.migrateLog},
		{"keys", a.openKeys},
		{"care of the log", a.openLogCare},
		{"mark of the self-check", a.markCleanStop},
		{"projector", a.makeProjector},
		{"cluster", a.joinCluster},
		{"records", a.startRecords},
		{"catching up", a.startCatchingUp},
		{"members", a.startMembers},
		{"commander", a.openCommander},
		{"requests", a.openRequests},
		{"audit", a.startAudit},
		{"spool", a.openSpool},
		{"log", a.openLog},
		{"watchdog", a.startWatchdog},
		{"settings", a.openSettings},
		{"limits", a.setLimits},
		{"projects", a.openProjects},
		{"quotas", a.openQuotas},
		{"sign-ins", a.openSignIns},
		{"import", a.openImport},
		{"retention", a.startRetention},
		{"replay", a.openReplay},
		{"refold", a.startRefold},
		{"self-check", a.startSelfCheck},
		{"records for other nodes", a.giveRecords},
		{"reader", a.openReader},
		{"expiry", a.startExpiry},
		{"feed", a.openFeed},
		{"alerts", a.openAlerts},
		{"ingest", a.openIngest},
		{"events from NATS", a.startNATSIn},
		{"ingest nodes", a.startHub},
		{"server", a.listen},
		{"OTLP server", a.listenOTLP},
		{"address", a.announce},
		{"messages", a.startAlerts},
		{"backups", a.startBackups},
	}
}

func (a *App) openData(context.Context) (err error) {
	if a.dir, err = datadir.Open(a.options.Data); err != nil {
		return err
	}
	a.cleanups.Add("data folder", func(context.Context) error { return a.dir.Close() })
	return nil
}

func (a *App) openCertificates(context.Context) (err error) {
	a.certs, err = certs.Open(a.options.TLS, a.dir, certs.Config{Listener: "http", Now: a.options.Now, Logger: a.logger, Registerer: a.registry})
	return err
}

func (a *App) startEngines(ctx context.Context) (err error) {
	if a.engines, err = engine.Start(ctx, engine.Config{
		Options: a.options.Options, Dir: a.dir, Publish: migrations.IntakeSubjects(a.options.Namespace),
		ClickHouseLater: true, ClickHouseMemory: a.options.ClickHouseMemory, CAFile: a.options.TLS.CAFile, Logger: a.logger, Registerer: a.registry,
	}); err != nil {
		return err
	}
	a.cleanups.Add("engines", a.engines.Stop)
	if mended := a.engines.NATS.MendedFiles(); len(mended) > 0 {
		a.alarms.Raise("nats-files-damaged", strings.Join(mended, "; "), "nothing is missing; check the disk. The alarm ends with the next start")
	}
	return nil
}

// migrateLog makes the streams and buckets that are missing.
func (a *App) migrateLog(ctx context.Context) (err error) {
	js, namespace := a.engines.JetStream(), a.options.Namespace
	if err := a.engines.NATS.AwaitFounded(ctx, "KV_"+migrations.ClusterBucket(namespace), uint64(len(sharedSecrets))); err != nil {
		return err
	}
	if err := a.admitNode(ctx); err != nil {
		return err
	}
	if err := a.resizeLog(ctx, a.engines.LogMaxBytes()); err != nil {
		return err
	}
	if a.keysBucket, err = js.KeyValue(ctx, migrations.KeysBucket(namespace)); err != nil {
		return fmt.Errorf("open the bucket of API keys: %w", err)
	}
	if a.imports, err = js.KeyValue(ctx, migrations.ImportsBucket(namespace)); err != nil {
		return fmt.Errorf("open the bucket of imported files: %w", err)
	}
	return a.engines.NATS.KeepStreamFiles()
}

// resizeLog gives the log so many bytes, and makes the other streams and buckets
// that are missing.
func (a *App) resizeLog(ctx context.Context, bytes int64) error {
	return migrations.Log(ctx, a.engines.JetStream(), migrations.LogConfig{Namespace: a.options.Namespace, MaxBytes: bytes, Replicas: max(a.options.NATSReplicas, a.options.Cluster.Replicas()), Cluster: a.options.Cluster.On()})
}

func (a *App) openKeys(ctx context.Context) error {
	copies := a.dir.Join(datadir.KeyCopiesFile)
	if a.options.NATSURL == "" && !a.options.Cluster.On() { // the other servers of a cluster have copies
		mended, err := access.Mend(ctx, a.engines.JetStream(), migrations.KeysBucket(a.options.Namespace), copies)
		if err != nil {
			return err
		}
		if detail, hint := mended.Tell(); detail != "" {
			a.alarms.Raise("keys-damaged", detail, hint)
		}
	}
	var err error
	if a.keys, err = access.Open(ctx, access.Config{Bucket: a.keysBucket, CopyFile: copies, Now: a.options.Now, Logger: a.logger, Skipped: a.strays.In("keys")}); err != nil {
		return err
	}
	a.cleanups.AddPlain("keys", a.keys.Close)
	a.keyring = a.keys
	if err := a.keys.MakeUserKey(ctx); err != nil {
		a.logger.Warn("users of events are not counted until the next start: there is no key to hash them with", "error", err)
	}
	if a.engines.NATS.Founds() || a.dir.Find(datadir.MakeKeysFile) != "" {
		a.welcome.First, err = access.MakeFirstKeys(ctx, a.dir, a.keys, a.logger)
	}
	return err
}
