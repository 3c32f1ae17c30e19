package ops

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest/legacy"
)

// visiblePatience is how long an import waits for the projection to catch up.
// What it imported is safe either way.
const visiblePatience = 10 * time.Minute

// ImportResult says what one import did.
type ImportResult struct {
	// Count is how many events it put on the log, Files how many files it
	// finished.
	Count   int64 `json:"count"`
	Files   int64 `json:"files"`
	Rebuilt bool  `json:"rebuilt"` // always
	// Skipped are files that were left alone, Warnings concern imported ones.
	Skipped []legacy.Note `json:"skipped"`
	// Unreadable is how many entries were in no known form.
	Unreadable int64         `json:"unreadable"`
	Warnings   []legacy.Note `json:"warnings"`
}

// ImportProgress is how far an import is.
type ImportProgress struct {
	Running bool `json:"running"`
	legacy.Progress
}

// Importer imports old error files that lie on the disk of the service, and waits
// until the list shows what it imported.
type Importer struct {
	files     *legacy.Importer
	commander Commander

	life context.Context //nolint:containedctx // it is the service's, and ends with Stop
	end  context.CancelFunc
	// running is held for reading by each import, and for writing to wait for
	// all of them.
	running sync.RWMutex
	// progress is of the import under way, nil when there is none.
	progress atomic.Pointer[legacy.Progress]
}

// NewImporter imports nothing yet.
func NewImporter(files *legacy.Importer, commander Commander) *Importer {
	life, end := context.WithCancel(context.Background())
	return &Importer{files: files, commander: commander, life: life, end: end}
}

// Stop stops an import and waits for its end. The next import goes on from
// there.
func (i *Importer) Stop() {
	i.end()
	i.running.Lock()
	defer i.running.Unlock()
}

var errStopping = errata.Errorf(errata.KindLogUnavailable,
	"The service is stopping and broke off the import; call again when it is back, and the import goes on where it stopped.")

// Import returns when everything that it or an earlier call imported is visible. Kinds:
// already_running, project_archived, log_full, log_unavailable, store_unavailable.
func (i *Importer) Import(ctx context.Context) (ImportResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	i.running.RLock()
	defer i.running.RUnlock()
	defer context.AfterFunc(i.life, cancel)()
	first := legacy.Progress{}
	if i.progress.CompareAndSwap(nil, &first) { // otherwise another import runs, and Run refuses this one
		defer i.progress.Store(nil)
	}
	done, err := i.files.Run(ctx, func(p legacy.Progress) { i.progress.Store(&p) })
	if err != nil && i.life.Err() != nil {
		err = errStopping.Because(err)
	}
	if err != nil {
		return ImportResult{}, fmt.Errorf("import old error files: %w", err)
	}
	result := ImportResult{
		Count: done.Events, Files: done.Files, Rebuilt: true, Unreadable: done.Unreadable,
		Skipped: append([]legacy.Note{}, done.Skipped...), Warnings: append([]legacy.Note{}, done.Warnings...),
	}
	command, outcome := eventlog.CommandImported, any(eventlog.Imported{Files: done.Files, Events: done.Events, Unreadable: done.Unreadable})
	if done.Events == 0 { // nothing for the audit trail; an import that was broken off may not be visible yet
		command, outcome = eventlog.CommandBarrier, nil
	}
	if err := i.conclude(ctx, command, outcome); err != nil {
		result.Warnings = append(result.Warnings, legacy.Note{Reason: "everything is on the log, and the list will show it later: " + err.Error()})
	}
	return result, nil
}

// conclude puts the outcome on the log, for the audit trail, and waits until
// the list shows what was imported, also by an earlier call.
func (i *Importer) conclude(ctx context.Context, command string, outcome any) error {
	ctx, cancel := context.WithTimeout(ctx, visiblePatience)
	defer cancel()
	_, err := i.commander.Do(ctx, command, outcome)
	if known, ok := errors.AsType[*errata.Error](err); ok {
		return errors.New(known.Message) // the cause is not for callers
	}
	return err
}

// Importing says how far the import under way is.
func (i *Importer) Importing() ImportProgress {
	p := i.progress.Load()
	if p == nil {
		return ImportProgress{}
	}
	return ImportProgress{Running: true, Progress: *p}
}
