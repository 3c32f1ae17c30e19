package settings

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/background"
)

// Config is what a [Store] needs.
type Config struct {
	// Log is where the settings stand. Required.
	Log eventlog.Log
	// Logger gets what the operator should know, nil for nothing.
	Logger *slog.Logger
	// Skipped is called for a message under the name of a setting that is no
	// fact of it, perhaps more than once; nil for no calls.
	Skipped func(sequence uint64, why error)
}

// Store reads and writes settings and keeps a copy of all of them in memory.
// All methods may be called at once from many goroutines.
type Store struct {
	log     eventlog.Log
	logger  *slog.Logger
	skipped func(sequence uint64, why error)

	current  atomic.Pointer[Snapshot]
	applying sync.Mutex // held while current is replaced
	// projectsRead: every fact of a project up to this sequence is in current.
	projectsRead atomic.Uint64

	work background.Runner
}

// followAgain is the pause before a lost log is followed anew. It is shorter
// than the second within which every node must see a change.
const followAgain = 250 * time.Millisecond

// Open reads all settings and follows the log until [Store.Close]. ctx bounds
// the first read only.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Log.NATS == nil || cfg.Log.JetStream == nil || cfg.Log.Stream == "" {
		return nil, errors.New("settings: Log is missing")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Skipped == nil {
		cfg.Skipped = func(uint64, error) {}
	}
	s := &Store{log: cfg.Log, logger: cfg.Logger, skipped: cfg.Skipped}
	first := &Snapshot{sequences: map[string]uint64{}}
	for _, of := range known {
		of.reset(first)
	}
	s.current.Store(first)
	if err := s.readAll(ctx); err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	s.work.Start(background.Loop{
		Do:     func(ctx context.Context) error { return eventlog.FollowSettings(ctx, s.log, s.apply) },
		Pauses: background.Pauses{First: followAgain, Most: followAgain},
		Failed: background.Tell(s.logger.Warn, "settings cannot be followed; the last copy stays in force"),
	}.Run)
	return s, nil
}

// readAll puts the newest fact of every setting in force.
func (s *Store) readAll(ctx context.Context) error {
	all, upTo, err := s.all(ctx)
	if err != nil {
		return err
	}
	for _, of := range all {
		newest, _, found, err := s.newest(ctx, of.title(), of.foreign)
		if err != nil {
			return err
		}
		if found {
			s.apply(newest)
		}
	}
	s.projectsRead.Store(upTo)
	return nil
}

// all are all settings: the known ones and those of projects. No fact up to the sequence
// is of another project.
func (s *Store) all(ctx context.Context) (all []anySetting, upTo uint64, err error) {
	for _, of := range known {
		all = append(all, of)
	}
	names, upTo, err := eventlog.SettingNames(ctx, s.log, eventlog.ProjectSettings)
	if err != nil {
		return nil, 0, err
	}
	for _, name := range names {
		if of, found := projectNamed(name); found {
			all = append(all, of)
		}
	}
	return all, upTo, nil
}

// Snapshot is this node's copy of the settings: at most a second old while the
// log answers, the last copy while it does not. It never blocks.
func (s *Store) Snapshot() *Snapshot { return s.current.Load() }

// Logging is the setting of what is recorded, as in Snapshot. It never blocks.
func (s *Store) Logging() errata.Logging { return s.Snapshot().Logging }

// Close stops following the log. The last copy stays in force. It may be
// called more than once.
func (s *Store) Close() { _ = s.work.Stop(context.Background()) }
