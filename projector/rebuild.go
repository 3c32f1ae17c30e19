package projector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/errata-log/errata/eventlog"
)

// RebuildSuffix makes the name of the database in which the projection in the
// database before it is rebuilt.
const RebuildSuffix = "_rebuild"

// RebuildConfig says how a rebuild is made.
type RebuildConfig struct {
	// Connect brings the tables in the database up to date and connects to it.
	// The database is there; it is empty, or holds the tables of the snapshot as
	// they were when that was taken. Rebuild closes the connection.
	Connect func(database string) (driver.Conn, error)
	// Progress is told now and then how far the rebuild has come; nil for nobody.
	Progress func(RebuildProgress)
	// Force swaps a rebuilt projection in that differs from the live one.
	Force bool
	// Distrust says that the live tables are damaged: they are neither counted
	// nor compared. The rebuilt tables replace them.
	Distrust bool
	// MaySwap is asked when all is folded and met, before the swap: with an error
	// the live tables stay. nil for no objection.
	MaySwap func() error
}

// RebuildProgress says how far a rebuild has come.
type RebuildProgress struct {
	// Sequence is the last fact folded again, of those up to Target.
	Sequence uint64 `json:"sequence"`
	Target   uint64 `json:"target"`
	Events   uint64 `json:"events"`
}

// Comparison is the outcome of a rebuild.
type Comparison struct {
	// Swapped says that the rebuilt projection is the live one now.
	Swapped bool `json:"swapped"`
	// From is the first fact that was read: 1, or behind the snapshot. Facts is how
	// many were, Events how many events were counted on the way.
	From   uint64 `json:"from"`
	Facts  uint64 `json:"facts"`
	Events uint64 `json:"events"`
	TookMS int64  `json:"took_ms"`
	// PausedMS is how long the live projection stood still for the swap.
	PausedMS int64 `json:"paused_ms"`
	Live     Tally `json:"live"`
	Rebuilt  Tally `json:"replayed"`
	// Differences says in words where the two are not the same. What the log
	// lacks is among them until an operator has accepted it.
	Differences []string `json:"differences"`
	// Gaps are the facts that the log lacks, accepted or not.
	Gaps []eventlog.Gap `json:"-"`
}

// Equal says that both projections hold the same bytes.
func (c Comparison) Equal() bool { return len(c.Differences) == 0 }

// ErrNoHistory says that the log has been cut and that there is no snapshot of
// what stood before.
var ErrNoHistory = errors.New("the log does not reach back to the first fact and there is no snapshot of what is missing; a rebuild would lose those records")

// catchUpGap is how many facts the rebuild may be behind the live projection
// when that is stopped for the swap; they take well under a second.
const catchUpGap = 200

// Rebuild folds the log once more into tables beside the live ones, compares
// both at the same fact, and swaps the new ones in. Readers see one or the
// other; only for the last stretch do new events wait to become visible. The
// rebuilt projection is thrown away when it differs, unless cfg.Force.
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

// rebuild is one rebuild under way.
type rebuild struct {
	live     *Projector
	cfg      RebuildConfig
	database string
	conn     driver.Conn
	next     *Projector
	start    Checkpoint // of the snapshot, zero without one
	from     uint64
	gaps     metGaps
}

// prepare makes the tables, filled from the snapshot if the log needs one.
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
		cfg:   Config{Log: r.live.cfg.Log, ClickHouse: r.conn, Shard: r.live.cfg.Shard, Logger: r.live.cfg.Logger, Quiet: true, Gaps: &r.gaps},
		store: NewStore(r.conn, r.live.cfg.Shard),
	}
	r.next.metrics = newMetrics(nil, func() float64 { return 0 })
	if r.start, err = r.next.store.Checkpoint(ctx); err != nil {
		return err
	}
	if r.start.Sequence+1 < log.First {
		return ErrNoHistory
	}
	r.next.status.Store(&Status{Checkpoint: r.start})
	r.from = max(r.start.Sequence+1, log.First)
	return nil
}

// restore makes the tables of the snapshot in the database. They have the
// structure of the program that took it, and parts can only be attached to a
// table of the same; so they are brought up to date after that, like tables
// that an older program has left. The snapshot stays as it is.
func (r *rebuild) restore(ctx context.Context, name string) error {
	snapshot := r.database + SnapshotSuffix
	there, err := one[uint64](ctx, r.live.store, "look for a snapshot",
		"SELECT count() FROM system.tables WHERE database = ? AND name = 'records'", snapshot)
	if err != nil {
		return err
	}
	if there == 0 {
		return ErrNoHistory
	}
	return r.live.store.exec(ctx, cloneStatements(snapshot, name)...)
}

// catchUp folds until the rebuild is close behind the live projection.
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

// target is the checkpoint to fold up to: that of the live projection, or of
// the log's end where the live tables cannot say how far they were. They may
// only say less than the log holds.
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
		return Checkpoint{Sequence: log.Last}, nil
	case cp.Sequence > log.Last:
		return Checkpoint{}, fmt.Errorf("the records stand at %d, the log ends at %d: %w", cp.Sequence, log.Last, eventlog.ErrLogShorter)
	default:
		return cp, nil
	}
}

// progressPause is how often the caller hears about the progress.
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

// swap stops the live projection, folds the rest, compares, and swaps.
func (r *rebuild) swap(ctx context.Context) (result Comparison, err error) {
	stopped := time.Now()
	running := r.live.work.Started()
	if err := r.live.Stop(ctx); err != nil {
		return Comparison{}, err
	}
	if running {
		defer r.live.Start()
	}
	if result.Live, result.Rebuilt, err = r.level(ctx); err != nil {
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

// levelTries is how often both are brought to the same fact when the live
// projection moves although its projector has stopped.
const levelTries = 10

// level folds up to where the live projection is, and counts both there. The
// insert that the live projector was stopped in may still happen, and another
// node's projector may take over: then the live one has moved meanwhile.
func (r *rebuild) level(ctx context.Context) (live, rebuilt Tally, err error) {
	for try := 1; ; try++ {
		cp, err := r.target(ctx)
		if err != nil {
			return live, rebuilt, err
		}
		if err := r.foldTo(ctx, cp.Sequence); err != nil {
			return live, rebuilt, fmt.Errorf("fold the rest of the log: %w", err)
		}
		if r.cfg.Distrust {
			live.Checkpoint = cp.Sequence
			rebuilt, err = r.next.store.Tally(ctx)
			return live, rebuilt, err
		}
		if live, err = r.live.store.Tally(ctx); err != nil {
			return live, rebuilt, err
		}
		if rebuilt, err = r.next.store.Tally(ctx); err != nil {
			return live, rebuilt, err
		}
		after, err := r.live.store.Checkpoint(ctx)
		if err != nil || after.Row == cp.Row || try == levelTries {
			return live, rebuilt, err
		}
	}
}

// exchange gives the rebuilt tables the names of the live ones. Records come
// last: until then all that the others hold more or less is not shown.
func (r *rebuild) exchange(ctx context.Context) error {
	var statements []string
	for _, table := range []string{"contexts", "hourly", "records"} {
		statements = append(statements, "EXCHANGE TABLES "+quoteName(r.database)+"."+table+" AND "+quoteName(r.database+RebuildSuffix)+"."+table)
	}
	return r.next.store.exec(ctx, statements...)
}

// dropPatience is how long the old tables may take to be gone from the disk. A
// reader that hangs in a damaged part keeps them there, and ends sometime.
const dropPatience = 3 * time.Second

// discard takes the tables away that are not the live ones.
func (r *rebuild) discard(ctx context.Context) error {
	err := r.drop(ctx)
	if r.conn != nil {
		err = errors.Join(err, r.conn.Close())
	}
	return err
}

// drop drops the database of the rebuild. Its name is free once it returns.
func (r *rebuild) drop(ctx context.Context) error {
	statement := "DROP DATABASE IF EXISTS " + quoteName(r.database+RebuildSuffix)
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	// No deadline: the driver would make one into a time limit of the statement.
	patience := time.AfterFunc(dropPatience, cancel)
	err := r.live.cfg.ClickHouse.Exec(waiting, statement+" SYNC")
	if err == nil || patience.Stop() {
		return err
	}
	return r.live.cfg.ClickHouse.Exec(ctx, statement)
}
