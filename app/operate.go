package app

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/errata-log/errata/engine"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest/legacy"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/ops"
	"github.com/errata-log/errata/projector"
)

// legacyFolder is the folder of old error files in the data folder.
const legacyFolder = "legacy"

// openImport makes the folders for old error files and whoever imports them.
func (a *App) openImport(ctx context.Context) error {
	dir := a.options.LegacyDir
	if dir == "" {
		dir = a.dir.Join(legacyFolder)
	}
	if err := legacy.Prepare(dir); err != nil {
		return err
	}
	bucket, err := a.importsBucket(ctx)
	if err != nil {
		return err
	}
	files, err := legacy.New(legacy.Config{
		Dir: dir, Log: a.stream(), Book: eventlog.NewImportBook(bucket),
		Rules: a.rules, Project: a.options.LegacyProject,
		Now: a.options.Now, Logger: a.logger, Registerer: a.options.Registry,
	})
	if err != nil {
		return err
	}
	a.importer = ops.NewImporter(files, a.commander)
	return nil
}

// importsBucket remembers what was taken onto the log, also when that is purged.
func (a *App) importsBucket(ctx context.Context) (jetstream.KeyValue, error) {
	bucket, err := a.engines.JetStream().KeyValue(ctx, migrations.ImportsBucket(a.options.Namespace))
	if err != nil {
		return nil, fmt.Errorf("open the bucket of imported files: %w", err)
	}
	return bucket, nil
}

// startRetention begins to keep the log within its room.
func (a *App) startRetention(ctx context.Context) error {
	kept, err := a.importsBucket(ctx)
	if err != nil {
		return err
	}
	a.retention = ops.StartRetention(ops.RetentionConfig{
		Log: a.stream(), Room: a.engines.LogMaxBytes(), Resize: a.resizeLog,
		Up: a.records.Up, Projection: a.projector.Status, Commander: a.commander,
		Keep: []ops.Keep{
			{Name: "set the settings again", Do: a.settings.Republish},
			{Name: "wait for the audit trail", Do: a.audit.auditor.CaughtUp},
			{Name: "keep the marks of queues", Do: func(ctx context.Context) error { return eventlog.KeepSourceMarks(ctx, a.stream(), kept) }},
			{Name: "sync the snapshot", Do: a.syncEmbedded}, // it is links to files, which nobody has synced yet
		},
		History: a.history, Logger: a.logger,
	})
	a.cleanups.addPlain("retention", a.retention.Stop)
	return nil
}

func (a *App) resizeLog(ctx context.Context, bytes int64) error {
	return migrations.Log(ctx, a.engines.JetStream(), migrations.LogConfig{Namespace: a.options.Namespace, MaxBytes: bytes, Replicas: a.options.NATSReplicas})
}

// syncEmbedded returns when the files of an embedded ClickHouse are on disk.
func (a *App) syncEmbedded(context.Context) error {
	if _, embedded := a.engines.EmbeddedClickHouse(); embedded {
		engine.SyncDisks()
	}
	return nil
}

// openReplay makes whoever rebuilds the projection.
func (a *App) openReplay(context.Context) error {
	a.replayer = ops.NewReplayer(ops.ReplayConfig{
		Ready: a.records.Err, Rebuild: a.rebuild, Replayed: a.logCare.Replayed, Undecided: a.logCare.Undecided,
		History: a.history, Logger: a.logger,
	})
	a.cleanups.add("replay", a.replayer.Stop)
	return nil
}

// rebuild rebuilds the projection in a database beside the live one.
func (a *App) rebuild(ctx context.Context, cfg projector.RebuildConfig) (projector.Comparison, error) {
	cfg.Connect = func(database string) (driver.Conn, error) {
		options := a.engines.ClickHouseOptions()
		options.Auth.Database = database
		if err := migrations.ClickHouse(ctx, options); err != nil {
			return nil, err
		}
		return clickhouse.Open(options)
	}
	return projector.Rebuild(ctx, a.projector, cfg)
}
