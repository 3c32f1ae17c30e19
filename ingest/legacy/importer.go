package legacy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/ingest"
)

// Config is what an Importer needs. Required: Dir, Log, Book.
type Config struct {
	// Dir holds the folders system and database; see [Prepare].
	Dir  string
	Log  eventlog.Log
	Book *eventlog.ImportBook
	// Rules are those of the pipeline, so that an imported error and a live one
	// belong to the same record.
	Rules ingest.Rules
	// Project is the project that the events belong to.
	Project uint64
	// Archived says which projects are refused; nil: none.
	Archived ingest.Archived
	// Noise has the noise rules of projects; nil for none.
	Noise *ingest.Noise
	// Now is the clock, nil for the system's.
	Now    func() time.Time
	Logger *slog.Logger
	// Registerer receives the metrics; nil for none.
	Registerer prometheus.Registerer
}

// Importer imports old error files.
type Importer struct {
	Config
	metrics metrics
	// broken lets a test stop the import at a moment; nil in the service.
	broken func(moment string) error
}

// Progress says how far the import of the present file is, with what earlier
// calls imported. Bytes are those of the unpacked file.
type Progress struct {
	File       string `json:"file"`
	BytesDone  int64  `json:"bytes_done"`
	BytesTotal int64  `json:"bytes_total"`
	Lines      int64  `json:"lines"`
	Events     int64  `json:"events"`
}

// Result says what one call did.
type Result struct {
	// Files were finished and moved; Lines were read; Events are on the log.
	Files, Lines, Events int64
	// Unreadable lines or entries have no known form, or are too long.
	Unreadable int64
	// Skipped are the files that were not imported, or were imported before.
	// Warnings are about imported files.
	Skipped, Warnings []Note
}

// Note tells the operator about a file.
type Note struct {
	File   string `json:"file"`
	Reason string `json:"reason"`
}

// New checks the configuration.
func New(cfg Config) (*Importer, error) {
	switch {
	case cfg.Dir == "":
		return nil, errors.New("legacy: Dir is missing")
	case cfg.Book == nil:
		return nil, errors.New("legacy: Book is missing")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	metrics, err := newMetrics(cfg.Registerer)
	if err != nil {
		return nil, err
	}
	return &Importer{Config: cfg, metrics: metrics}, nil
}

// Run imports the files of both folders, one after the other, and returns when
// all of them are on the log. It calls progress, which may be nil, in between. An
// interrupted import goes on where it stopped, even in another process. With an
// error, the Result says what was done before it. Kinds: already_running,
// project_archived, log_full, log_unavailable.
func (im *Importer) Run(ctx context.Context, progress func(Progress)) (Result, error) {
	if progress == nil {
		progress = func(Progress) {}
	}
	if refused := im.Archived.Refusal(im.Project); refused != nil {
		return Result{}, refused
	}
	ctx, release, err := im.Book.Lock(ctx, im.Now())
	if err != nil {
		return Result{}, err
	}
	defer release()
	r := &run{Importer: im, progress: progress}
	root, err := os.OpenRoot(im.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return r.result, nil
	}
	if err != nil {
		return r.result, fmt.Errorf("open the folder of old error files: %w", err)
	}
	defer root.Close()
	err = r.all(ctx, root)
	if lost := context.Cause(ctx); err != nil && lost != nil {
		err = errors.Join(lost, err)
	}
	return r.result, err
}

// run is one call of Run.
type run struct {
	*Importer
	progress func(Progress)
	result   Result
}

// all imports from both folders. Interrupted imports come first.
func (r *run) all(ctx context.Context, root *os.Root) error {
	type job struct {
		folder *folder
		name   string
	}
	r.misplaced(root)
	var jobs, later []job
	for _, book := range errata.Books {
		f, err := openFolder(root, book)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			r.skip(book.String(), err)
			continue
		}
		defer f.root.Close()
		names, err := f.names()
		if err != nil {
			return err
		}
		for _, name := range names {
			if strings.HasSuffix(name, claimMark) {
				jobs = append(jobs, job{f, name})
			} else {
				later = append(later, job{f, name})
			}
		}
	}
	for _, j := range append(jobs, later...) {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := r.file(ctx, j.folder, j.name); isFatal(ctx, err) {
			return fmt.Errorf("import %s: %w", j.folder.path(j.name), err)
		} else if err != nil {
			r.skip(j.folder.path(j.name), err)
		}
	}
	return nil
}

// isFatal says that an error ends the whole import, not that of one file.
func isFatal(ctx context.Context, err error) bool {
	_, ours := errors.AsType[*errata.Error](err)
	return err != nil && (ours || ctx.Err() != nil || errors.Is(err, errBroken))
}

// errBroken is the cause of the errors with which tests stop an import.
var errBroken = errors.New("broken off")

func (r *run) skip(file string, err error) {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err // the operation and the path are known
	}
	r.Logger.Warn("skipped an old error file", "file", file, "reason", err)
	r.result.Skipped = append(r.result.Skipped, Note{file, err.Error()})
}

func (r *run) warn(file, format string, args ...any) {
	note := Note{file, fmt.Sprintf(format, args...)}
	r.Logger.Warn("imported an old error file with a warning", "file", file, "reason", note.Reason)
	r.result.Warnings = append(r.result.Warnings, note)
}

// at lets a test stop the import at a moment.
func (im *Importer) at(moment string) error {
	if im.broken == nil {
		return nil
	}
	return im.broken(moment)
}
