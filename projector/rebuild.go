package projector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/errata-log/errata/eventlog"
)

// RebuildSuffix is appended to the name of a database. The result is the database
// in which its projection is rebuilt.
const RebuildSuffix = "_rebuild"

// RebuildConfig says how a rebuild is made.
type RebuildConfig struct {
	// Connect connects to the database and migrates its tables. The database
	// exists; it is empty, or has the tables of the snapshot as they were when it
	// was taken. Rebuild closes the connection.
	Connect func(database string) (driver.Conn, error)
	// Progress, if it is not nil, is called every progressPause.
	Progress func(RebuildProgress)
	// Force swaps in the rebuilt projection also when it differs from the live one.
	Force bool
	// Distrust says that the live tables are damaged: they are not counted and not
	// compared, and the rebuilt tables replace them.
	Distrust bool
	// MaySwap, if it is not nil, is called after the fold, before the swap. With an
	// error the live tables stay.
	MaySwap func() error
}

// RebuildProgress says how far a rebuild has come.
type RebuildProgress struct {
	// Sequence is the last folded fact, Target the last one to fold.
	Sequence uint64 `json:"sequence"`
	Target   uint64 `json:"target"`
	Events   uint64 `json:"events"`
}

// ErrNoHistory says that the log was purged and that there is no snapshot of the
// records before.
var ErrNoHistory = errors.New("the log does not reach back to the first fact and there is no snapshot of what is missing; a rebuild would lose those records")

// catchUpGap is how many facts the rebuild may be behind the live projector when
// that is stopped for the swap. They take less than a second.
const catchUpGap = 200

// Rebuild folds the log again into tables beside the live ones, compares both at
// the same fact, and swaps the new tables in. Readers see the old or the new ones.
// The live projector stops only for the last facts. When the rebuilt projection
// differs, it is dropped, unless cfg.Force. Errors: ErrNoHistory.
func Rebuild(ctx context.Context, live *Projector, cfg RebuildConfig) (result Comparison, err error) {
	began := time.Now()
	r := &rebuild{live: live, cfg: cfg}
	if r.database, err = live.store.database(ctx); err != nil {
		return Comparison{}, err
	}
	defer func() { err = errors.Join(err, r.discard(context.WithoutCancel(ctx))) }()
	if err := r.prepare(ctx); err != nil {
		return Comparison{}, fmt.Errorf("prepare the rebuild: %w", err)
	}
	if err := r.catchUp(ctx); err != nil {
		return Comparison{}, fmt.Errorf("fold the log again: %w", err)
	}
	result, err = r.swap(ctx)
	result.TookMS = time.Since(began).Milliseconds()
	return result, err
}

// rebuild is a running rebuild.
type rebuild struct {
	live     *Projector
	cfg      RebuildConfig
	database string
	conn     driver.Conn
	next     *Projector
	start    Checkpoint // that of the snapshot, zero without one
	from     uint64
	gaps     metGaps
}

// prepare makes the tables. When the log was purged, they are those of the
// snapshot.
func (r *rebuild) prepare(ctx context.Context) error {
	name := r.database + RebuildSuffix
	if err := r.drop(ctx); err != nil {
		return fmt.Errorf("drop what an earlier rebuild has left: %w", err)
	}
	if err := r.live.store.exec(ctx, "CREATE DATABASE "+quoteName(name)); err != nil {
		return err
	}
	log, err := eventlog.Inspect(ctx, r.live.cfg.Log)
	if err != nil {
		return err
	}
	if log.First > 1 {
		if err := r.restore(ctx, name); err != nil {
			return err
		}
	}
	if r.conn, err = r.cfg.Connect(name); err != nil {
		return err
	}
	r.gaps.live = r.live.cfg.Gaps
	r.next = &Projector{
		cfg: Config{
			Log: r.live.cfg.Log, ClickHouse: r.conn, Shard: r.live.cfg.Shard, Logger: r.live.cfg.Logger, Quiet: true, Own: r.live.cfg.Own, Gaps: &r.gaps,
			SpillFolder: r.live.cfg.SpillFolder,
		},
		store: NewStore(r.conn, r.live.cfg.Shard),
	}
	r.next.catchUp = r.next.beginCatchUp()
	r.next.catchUp.rebuild = true
	r.next.metrics = newMetrics(nil, func() float64 { return 0 })
	if r.start, err = r.next.store.Checkpoint(ctx); err != nil {
		return err
	}
	if r.start.Sequence+1 < log.First {
		return ErrNoHistory
	}
	r.next.tell(Status{Checkpoint: r.start})
	r.from = max(r.start.Sequence+1, log.First)
	return nil
}

// restore copies the tables of the snapshot into the database. They keep the
// structure of the version that took the snapshot, because a part can only be
// attached to a table with the same structure. After that, Connect migrates them.
// The snapshot is not changed.
func (r *rebuild) restore(ctx context.Context, name string) error {
	snapshot := r.database + SnapshotSuffix
	there, err := one[[]string](ctx, r.live.store, "look for a snapshot",
		"SELECT groupArray(name) FROM system.tables WHERE database = ?", snapshot)
	if err != nil {
		return err
	}
	if !slices.Contains(there, tableRecords) {
		return ErrNoHistory
	}
	// A snapshot of an older version lacks the tables that came later.
	tables := slices.DeleteFunc(slices.Clone(projectionTables), func(table string) bool { return !slices.Contains(there, table) })
	return r.live.store.exec(ctx, cloneStatements(tables, snapshot, name)...)
}

// catchUp folds until the rebuild is close behind the live projector.
func (r *rebuild) catchUp(ctx context.Context) error {
	for {
		cp, err := r.target(ctx)
		if err != nil {
			return err
		}
		if cp.Sequence <= r.next.Status().Checkpoint.Sequence+catchUpGap {
			return nil
		}
		if err := r.foldTo(ctx, cp.Sequence); err != nil {
			return err
		}
	}
}

// target is the checkpoint to fold up to: that of the live projection, or with
// Distrust the end of the log, when the live tables have no readable checkpoint. A
// checkpoint after the end of the log is an error.
func (r *rebuild) target(ctx context.Context) (Checkpoint, error) {
	cp, err := r.live.store.Checkpoint(ctx)
	if !r.cfg.Distrust {
		return cp, err
	}
	log, inspectErr := eventlog.Inspect(ctx, r.live.cfg.Log)
	switch {
	case inspectErr != nil:
		return Checkpoint{}, inspectErr
	case err != nil || cp.Row == 0:
		return Checkpoint{Sequence: log.Last}, nil //nolint:nilerr // the end of the log stands in for a checkpoint that cannot be read
	case cp.Sequence > log.Last:
		return Checkpoint{}, fmt.Errorf("the records stand at %d, the log ends at %d: %w", cp.Sequence, log.Last, eventlog.ErrLogShorter)
	default:
		return cp, nil
	}
}

// progressPause is how often Progress is called.
const progressPause = 200 * time.Millisecond

func (r *rebuild) foldTo(ctx context.Context, target uint64) error {
	done := make(chan error, 1)
	go func() { done <- r.next.FoldTo(ctx, target) }() // ends with ctx
	tick := time.NewTicker(progressPause)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-tick.C:
		}
		if r.cfg.Progress != nil {
			cp := r.next.Status().Checkpoint
			r.cfg.Progress(RebuildProgress{Sequence: cp.Sequence, Target: target, Events: cp.Events})
		}
	}
}

// swap stops the live projector, folds the rest, compares, and swaps the tables.
func (r *rebuild) swap(ctx context.Context) (result Comparison, err error) {
	stopped := time.Now()
	goOn, err := r.live.hold(ctx)
	if err != nil {
		return Comparison{}, err
	}
	defer goOn()
	if err := r.compare(ctx, &result); err != nil {
		return Comparison{}, err
	}
	result.From, result.Events = r.from, r.next.Status().Checkpoint.Events-r.start.Events
	result.Facts = result.Live.Checkpoint - min(r.from-1, result.Live.Checkpoint)
	if !r.cfg.Distrust {
		result.Differences = result.Live.differences(result.Rebuilt)
	}
	if err := r.lacks(ctx, &result); err != nil {
		return Comparison{}, err
	}
	if r.cfg.MaySwap != nil {
		if err := r.cfg.MaySwap(); err != nil {
			return result, fmt.Errorf("keep the tables that there are: %w", err)
		}
	}
	if result.Equal() || r.cfg.Force {
		err = r.exchange(ctx)
		result.Swapped = err == nil
	}
	result.PausedMS = time.Since(stopped).Milliseconds()
	return result, err
}

// exchange gives the rebuilt tables the names of the live ones. Their merges waited until now.
func (r *rebuild) exchange(ctx context.Context) error {
	var statements []string
	for _, table := range projectionTables {
		statements = append(statements, "EXCHANGE TABLES "+quoteName(r.database)+"."+table+" AND "+quoteName(r.database+RebuildSuffix)+"."+table)
	}
	err := r.live.store.merges.exchange(ctx, r.next.store, func() error { return r.next.store.exec(ctx, statements...) })
	r.live.tellMerges(r.live.store.merges.Tell(ctx))
	r.live.forgetIDs()
	return err
}

// dropPatience is how long drop waits until the old tables are gone from the disk.
// A query that hangs in a damaged part keeps them there until it ends.
const dropPatience = 3 * time.Second

// discard drops the tables that are not the live ones, and closes the connection.
func (r *rebuild) discard(ctx context.Context) error {
	err := r.drop(ctx)
	if r.conn != nil {
		err = errors.Join(err, r.conn.Close())
	}
	return err
}

// drop drops the database of the rebuild. After it the name is free.
func (r *rebuild) drop(ctx context.Context) error {
	statement := "DROP DATABASE IF EXISTS " + quoteName(r.database+RebuildSuffix)
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	// No deadline here: the driver would make it a time limit of the statement.
	patience := time.AfterFunc(dropPatience, cancel)
	err := r.live.cfg.ClickHouse.Exec(waiting, statement+" SYNC")
	if err == nil || patience.Stop() {
		return err
	}
	return r.live.cfg.ClickHouse.Exec(ctx, statement)
}
