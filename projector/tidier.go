package projector

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/errata-log/errata/internal/background"
)

// tidyTick is how often the tidier looks. A look is two small queries.
const tidyTick = 10 * time.Second

// When nothing was folded for calmTicks ticks, the tidier looks only at every calmTicks-th tick.
// Its looks were a third of what an idle ClickHouse takes.
const calmTicks = 6

// refusals are the codes with which a ClickHouse says that this user may not do
// it: no waiting helps.
var refusals = []int32{
	164, // READONLY
	392, // QUERY_IS_PROHIBITED
	452, // SETTING_CONSTRAINT_VIOLATION
	497, // ACCESS_DENIED
}

// tidier merges the tables into one part each when that is worth it, one table
// at a time, beside the fold.
type tidier struct {
	store   *Store
	logger  *slog.Logger
	metrics *metrics
	// now and wait are the clock; wait is until the next look, false when ctx ended.
	now  func() time.Time
	wait func(ctx context.Context) bool

	row    uint64    // of the checkpoint when it was last looked at
	moved  time.Time // when that was seen for the first time
	tables map[string]*tidied

	// removed is the last fact that has removed a record here; cleared is up to which
	// fact the occurrences of such records are deleted.
	removed atomic.Uint64
	cleared uint64
	began   bool // the first look does not know what was removed earlier

	wrote atomic.Uint64 // the row of the last checkpoint that was written here
	seen  uint64        // wrote at the last tick
	calm  int           // ticks since it has changed
}

// tidied is what the tidier remembers of a table.
type tidied struct {
	tried time.Time
	rest  time.Duration
	done  bool // once, so that no part was written before the last migration
}

func newTidier(store *Store, logger *slog.Logger, m *metrics) *tidier {
	return &tidier{store: store, logger: logger, metrics: m, now: time.Now, tables: map[string]*tidied{}, wait: func(ctx context.Context) bool { return background.Wait(ctx, tidyTick) }}
}

// run looks at every tick until ctx ends or ClickHouse refuses.
func (t *tidier) run(ctx context.Context) {
	for _, known := range t.tables {
		known.done = false // a rebuild may have put other tables in their places
	}
	t.cleared, t.began = 0, false
	for t.wait(ctx) {
		if !t.due() {
			continue
		}
		switch err := t.look(ctx); {
		case err == nil || ctx.Err() != nil:
		case refused(err):
			t.logger.Warn("ClickHouse does not let this user tidy its tables; lists stay slower than they could be", "error", err)
			return
		default:
			t.logger.Debug("the tables are not tidied now", "error", err)
		}
	}
}

// due says whether the tidier looks at this tick.
func (t *tidier) due() bool {
	t.calm++
	if wrote := t.wrote.Load(); wrote != t.seen {
		t.seen, t.calm = wrote, 0
	}
	return t.calm <= calmTicks || t.calm%calmTicks == 0
}

// refused says that ClickHouse will never allow it.
func refused(err error) bool {
	answer := (*clickhouse.Exception)(nil)
	return errors.As(err, &answer) && slices.Contains(refusals, answer.Code)
}

// look tidies the first table for which it is worth it; the next look sees to
// the others, by what is true then.
func (t *tidier) look(ctx context.Context) error {
	cp, err := t.store.Checkpoint(ctx) // that of whichever node folds
	if err != nil {
		return err
	}
	if cp.Row != t.row || t.moved.IsZero() {
		t.row, t.moved = cp.Row, t.now()
	}
	if err := t.clear(ctx, cp.Sequence); err != nil {
		return err
	}
	tables, err := t.store.tableParts(ctx)
	if err != nil {
		return err
	}
	for _, parts := range tables {
		t.metrics.parts.WithLabelValues(parts.table).Set(float64(parts.parts))
	}
	for _, parts := range tables {
		if t.store.merges.Held(parts.table) {
			continue
		}
		known := t.known(parts.table)
		if known.done {
			parts.bare = 0 // what a tidy did not mend, another one will not
		}
		now := moment{idle: t.now().Sub(t.moved), since: math.MaxInt64, rest: known.rest}
		if !known.tried.IsZero() {
			now.since = t.now().Sub(known.tried)
		}
		if worthTidying(parts, now) {
			return t.tidy(ctx, parts, known)
		}
	}
	return nil
}

// clear deletes the occurrences of the records that were removed up to the fact.
func (t *tidier) clear(ctx context.Context, to uint64) error {
	known := t.known("gone " + RollupOccurrences)
	if t.began && t.removed.Load() <= t.cleared || t.now().Sub(known.tried) < known.rest {
		return nil
	}
	if t.store.merges.Held(LatestContexts) || t.store.merges.Held(RollupOccurrences) {
		return nil // the deletion would wait as long
	}
	began := t.now()
	err := t.store.removeGone(ctx, t.cleared, to)
	known.tried = t.now()
	known.rest = restFactor * known.tried.Sub(began)
	if refused(err) {
		t.logger.Warn("ClickHouse does not let this user delete the occurrences of removed records; nobody sees them, and they take disk", "error", err)
		t.cleared, t.began = math.MaxUint64, true
		return nil
	}
	if err != nil {
		known.rest = max(known.rest, failedRest)
		return err
	}
	t.cleared, t.began = to, true
	return nil
}

func (t *tidier) known(table string) *tidied {
	if t.tables[table] == nil {
		t.tables[table] = &tidied{}
	}
	return t.tables[table]
}

// tidy tidies the table and notes what it took.
func (t *tidier) tidy(ctx context.Context, parts tableParts, known *tidied) error {
	began := t.now()
	err := t.store.tidyTable(ctx, parts)
	known.tried = t.now()
	took := known.tried.Sub(began)
	known.rest = restFactor * took
	if err == nil {
		known.done = true
		t.metrics.tidies.WithLabelValues(parts.table).Inc()
		t.logger.Info("merged a table into one part", "table", parts.table, "parts", parts.parts, "rows", parts.rows, "took", took)
		return nil
	}
	if t.store.merges.Held(parts.table) {
		return ErrHeld // the hold has ended the merge
	}
	known.rest = max(known.rest, failedRest)
	if ctx.Err() == nil && !refused(err) {
		t.logger.Warn("a table was not merged into one part, trying again later", "error", err, "after", known.rest)
	}
	return err
}
