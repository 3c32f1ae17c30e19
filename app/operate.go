package app

import (
	"cmp"
	"context"

	"github.com/errata-log/errata/backup"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest/legacy"
	"github.com/errata-log/errata/migrations"
	"github.com/errata-log/errata/ops"
	"github.com/errata-log/errata/projector"
	"github.com/errata-log/errata/query"
)

// legacyFolder is the folder of old error files in the data folder.
const legacyFolder = "legacy"

// openImport makes the folders for old error files, and the importer.
func (a *App) openImport(context.Context) error {
	dir := cmp.Or(a.options.LegacyDir, a.dir.Join(legacyFolder))
	if err := legacy.Prepare(dir); err != nil {
		return err
	}
	files, err := legacy.New(legacy.Config{
		Dir: dir, Log: a.stream(), Book: eventlog.NewImportBook(a.imports),
		Rules: a.rules, Project: a.options.LegacyProject, Archived: a.asked.Archived, Noise: a.noise,
		Now: a.options.Now, Logger: a.logger, Registerer: a.registry,
	})
	if err != nil {
		return err
	}
	a.importer = ops.NewImporter(files, a.commander)
	return nil
}

// startRetention begins to keep the log within its room.
func (a *App) startRetention(context.Context) error {
	a.retention = ops.StartRetention(ops.RetentionConfig{
		Log: a.stream(), Room: a.engines.LogMaxBytes(), Resize: a.resizeLog,
		Up: a.records.Up, Projection: a.projector.Status, Commander: a.commander, May: a.cluster.MayPurge,
		Keep: []ops.Keep{
			{Name: "wait for the other nodes", Do: func(ctx context.Context) error {
				return a.cluster.Folded(ctx, a.projector.Status().Checkpoint.Sequence)
			}},
			{Name: "set the settings again", Do: a.settings.Republish},
			{Name: "wait for the audit trail", Do: a.audit.CaughtUp},
			{Name: "keep the marks of queues", Do: func(ctx context.Context) error { return eventlog.KeepSourceMarks(ctx, a.stream(), a.imports) }},
			{Name: "sync the snapshot", Do: a.engines.SyncFiles}, // it consists of links, which are not on disk yet
		},
		History: a.history, Logger: a.logger,
	})
	a.cleanups.AddPlain("retention", a.retention.Stop)
	return nil
}

// openReplay makes the replayer, which rebuilds the projection.
func (a *App) openReplay(context.Context) error {
	a.replayer = ops.NewReplayer(ops.ReplayConfig{
		Ready: a.records.Err, Rebuild: a.rebuild, Replayed: a.logCare.Replayed, Undecided: a.logCare.Undecided,
		History: a.history, Logger: a.logger,
	})
	a.cleanups.Add("replay", a.replayer.Stop)
	return nil
}

// startRefold makes the records again that an older version has made, once they are
// up.
func (a *App) startRefold(context.Context) error {
	refold := ops.NewRefold(ops.RefoldConfig{
		Checkpoint: a.projector.Store().Checkpoint, Replay: a.replayer.Replay, Sole: a.options.ClickHouseDSN == "", Logger: a.logger,
	})
	a.records.WhenUp(refold.Start)
	a.cleanups.Add("refold", func(ctx context.Context) error { return cmp.Or(a.records.Stop(ctx), refold.Stop(ctx)) })
	return nil
}

// startExpiry begins to remove the records and occurrences that projects keep no longer,
// once the records are up.
func (a *App) startExpiry(context.Context) error {
	// It may count before the records have caught up: what is to be removed is a command, which all
	// nodes carry out at its place of the log.
	counts := query.New(query.Config{ClickHouse: a.engines.ReadOnlyClickHouse(), Trust: a.checker, Now: a.options.Now})
	expiry := ops.NewExpiry(ops.ExpiryConfig{
		Days: a.projects.RetentionDays, Count: counts.CountUpTo, Cleanup: a.commander.Cleanup,
		OccurrenceDays: a.projects.OccurrenceDays, Due: a.projector.Store().Expired, Expire: a.commander.Expire,
		Now: a.options.Now, Logger: a.logger,
	})
	a.records.WhenUp(expiry.Start)
	a.cleanups.Add("expiry", func(ctx context.Context) error { return cmp.Or(a.records.Stop(ctx), expiry.Stop(ctx)) })
	return nil
}

// rebuild rebuilds the projection in a database beside the live one.
func (a *App) rebuild(ctx context.Context, cfg projector.RebuildConfig) (projector.Comparison, error) {
	from := a.engines.Database()
	if cfg.Distrust || cfg.Force { // the live tables may be otherwise than they should
		from = ""
	}
	cfg.Connect = migrations.Connect(ctx, a.engines.ClickHouseOptions(), from)
	return projector.Rebuild(ctx, a.projector, cfg)
}

// startBackups begins to make backups. It is the last step: a backup ends before anything
// stops.
func (a *App) startBackups(context.Context) error {
	keeper, err := backup.Start(backup.Config{
		Dir: a.dir, Engines: a.engines, External: a.options.NATSURL != "" || a.options.ClickHouseDSN != "", Namespace: a.options.Namespace,
		Databases: []string{a.engines.Database(), a.engines.Database() + projector.SnapshotSuffix},
		Ready:     a.records.Err, Hold: a.projector.Hold, History: a.history,
		Version: a.options.Version, Now: a.options.Now, Logger: a.logger,
	})
	if err == nil {
		a.cleanups.Add("backups", keeper.Stop)
	}
	return err
}
