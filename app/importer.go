package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest/legacy"
	"github.com/errata-log/errata/migrations"
)

// legacyFolder is the folder of old error files in the data folder.
const legacyFolder = "legacy"

// visiblePatience is how long an import waits for the projection to catch up.
// What it imported is safe either way.
const visiblePatience = 10 * time.Minute

// commander asks the projection; *eventlog.Commander is one.
type commander interface {
	Do(ctx context.Context, name string, body any) (eventlog.Answer, error)
}

// importer is the importer as the API calls it.
type importer struct {
	importer  *legacy.Importer
	commander commander

	life context.Context //nolint:containedctx // it is the service's, and ends with stop
	end  context.CancelFunc
	// running is held for reading by each import, and for writing to wait for
	// all of them.
	running sync.RWMutex
	// progress is of the import under way, nil when there is none.
	progress atomic.Pointer[legacy.Progress]
}

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
	a.importer = newImporter(files, a.commander)
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

func newImporter(files *legacy.Importer, c commander) *importer {
	life, end := context.WithCancel(context.Background())
	return &importer{importer: files, commander: c, life: life, end: end}
}

// stop breaks off an import and waits until it has. The next one goes on there.
func (i *importer) stop() {
	i.end()
	i.running.Lock()
	defer i.running.Unlock()
}

var errStopping = errata.Errorf(errata.KindLogUnavailable,
	"The service is stopping and broke off the import; call again when it is back, and the import goes on where it stopped.")

// Import implements [api.Importer].
func (i *importer) Import(ctx context.Context) (api.ImportResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	i.running.RLock()
	defer i.running.RUnlock()
	defer context.AfterFunc(i.life, cancel)()
	first := legacy.Progress{}
	if i.progress.CompareAndSwap(nil, &first) { // otherwise the lock refuses this one
		defer i.progress.Store(nil)
	}
	done, err := i.importer.Run(ctx, func(p legacy.Progress) { i.progress.Store(&p) })
	if err != nil && i.life.Err() != nil {
		err = errStopping.Because(err)
	}
	if err != nil {
		return api.ImportResult{}, fmt.Errorf("import old error files: %w", err)
	}
	result := api.ImportResult{
		Count: done.Events, Files: done.Files, Unreadable: done.Unreadable,
		Skipped: notes(done.Skipped), Warnings: notes(done.Warnings),
	}
	if done.Events == 0 {
		return result, nil
	}
	if err := i.conclude(ctx, eventlog.Imported{Files: done.Files, Events: done.Events, Unreadable: done.Unreadable}); err != nil {
		result.Warnings = append(result.Warnings, api.ImportNote{Reason: "everything is on the log, and the list will show it later: " + err.Error()})
	}
	return result, nil
}

// conclude puts the outcome on the log, for the audit trail, and waits until
// the list shows what was imported.
func (i *importer) conclude(ctx context.Context, done eventlog.Imported) error {
	ctx, cancel := context.WithTimeout(ctx, visiblePatience)
	defer cancel()
	_, err := i.commander.Do(ctx, eventlog.CommandImported, done)
	if known, ok := errors.AsType[*errata.Error](err); ok {
		return errors.New(known.Message) // the cause is not for callers
	}
	return err
}

func notes(list []legacy.Note) (notes []api.ImportNote) {
	for _, n := range list {
		notes = append(notes, api.ImportNote(n))
	}
	return notes
}

// Importing implements [api.Importer].
func (i *importer) Importing() api.ImportProgress {
	p := i.progress.Load()
	if p == nil {
		return api.ImportProgress{}
	}
	return api.ImportProgress{
		Running: true, File: p.File, BytesDone: p.BytesDone, BytesTotal: p.BytesTotal, Lines: p.Lines, Events: p.Events,
	}
}
