package projector

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/errata-log/errata/internal/background"
)

//go:embed sql/table_parts.sql
var sqlTableParts string

// When a table is merged into one part. ClickHouse's own merges stop at 8 to 13
// parts, and every look-up and page pays for each: 25 rows by key of a million
// take 27 ms with 8 parts and 12 ms with one. But a tidy writes the whole table
// again, 10 to 14 s of a processor for a million records and two minutes for
// ten, so that it must be earned.
const (
	// tidyIdle is how long nothing was folded before a table counts as idle:
	// longer than the pauses inside a load, short enough for who comes to look.
	tidyIdle = 20 * time.Second
	// idlePercent of the rows must be outside the largest part when idle: a row
	// is written again at most 20 times for one that came.
	idlePercent = 5
	// busyPercent and busyPause are for a table that is never idle, where the
	// tidy takes its processor from the fold.
	busyPercent = 10
	busyPause   = time.Hour
	// smallTable is how many rows are written again within a second or so: then
	// every part more than one is worth it, but not every minute for ever, since
	// the disk pays too.
	smallTable = 100_000
	smallPause = 10 * time.Minute
	// manyParts cost a page more than they should although few rows are in them;
	// once in dailyPause the table is written again all the same.
	manyParts  = 4
	dailyPause = 24 * time.Hour
	// restFactor times as long as a tidy took is no other one of the table: all
	// of them take at most a twentieth of a processor, however large the table.
	restFactor = 20
	// failedRest is the rest after a tidy that failed, for want of room perhaps.
	failedRest = 10 * time.Minute
	// tidyLimit bounds a tidy, instead of the few minutes after which driver or
	// server give up a query that says nothing: it is hours for a thousand
	// million records.
	tidyLimit = 6 * time.Hour
)

// tableParts is how the parts of a table stand.
type tableParts struct {
	table string
	// parts is how many are active; rows are theirs, and of the largest of them.
	parts, rows, largest uint64
	// masked is how many parts have deleted rows.
	masked uint64
	// bare is how many parts lack a projection of the table, and with it what
	// else a migration added after they were written.
	bare uint64
	// age is how long ago the largest part was written, by ClickHouse's clock.
	// It knows of tidies by other nodes and before a restart.
	age     time.Duration
	merging bool
}

// tidy says that a table has nothing to gain.
func (t tableParts) tidy() bool { return t.parts <= 1 && t.bare == 0 && t.masked == 0 }

// moment is what else a decision depends on.
type moment struct {
	idle  time.Duration // since something was folded
	since time.Duration // since the last try to tidy the table, here
	rest  time.Duration // that try asks for
}

// worthTidying decides whether the table is merged into one part now.
func worthTidying(t tableParts, now moment) bool {
	if t.tidy() || t.merging || now.since < now.rest {
		return false
	}
	outside := 100 * (t.rows - t.largest)
	last := min(now.since, t.age)
	if t.masked > 0 && last >= dailyPause {
		return true // what was deleted leaves the disk
	}
	if now.idle < tidyIdle {
		return last >= busyPause && (t.bare > 0 || outside >= busyPercent*t.rows)
	}
	switch {
	case t.bare > 0, outside >= idlePercent*t.rows:
		return true
	case t.rows < smallTable:
		return now.since >= smallPause
	default:
		return t.parts > manyParts && last >= dailyPause
	}
}

// Tidy deletes the occurrences of removed records and merges each table of the
// projection into one part, whatever that costs, and returns when it is done: two minutes for ten million records. Readers and
// the fold go on meanwhile; what they write then stays outside. A table that is
// one whole part already is left alone. When ctx ends Tidy returns at once, and
// ClickHouse finishes the table that it is at. An error names the table.
func (s *Store) Tidy(ctx context.Context) error {
	cp, err := s.Checkpoint(ctx)
	if err != nil {
		return err
	}
	if err := s.removeGone(ctx, 0, cp.Sequence); err != nil {
		return err
	}
	tables, err := s.tableParts(ctx)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if t.tidy() {
			continue
		}
		if err := s.tidyTable(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// tableParts reads how the parts of the projection's tables stand; a table
// without parts is left out.
func (s *Store) tableParts(ctx context.Context) (tables []tableParts, err error) {
	rows, err := s.conn.Query(ctx, sqlTableParts)
	if err != nil {
		return nil, fmt.Errorf("look at the parts of the tables: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var t tableParts
		var age uint64
		var merging uint8
		if err := rows.Scan(&t.table, &t.parts, &t.rows, &t.largest, &age, &t.bare, &t.masked, &merging); err != nil {
			return nil, fmt.Errorf("look at the parts of the tables: %w", err)
		}
		t.age, t.merging = time.Duration(age)*time.Second, merging != 0
		tables = append(tables, t)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("look at the parts of the tables: %w", err)
	}
	return tables, nil
}

const (
	// codeCannotOptimize is ClickHouse's code for parts that cannot be merged now.
	codeCannotOptimize = 388
	// deletionWait is how long a deletion may take to reach all parts, and deletionPause how often
	// to look.
	deletionWait, deletionPause = 10 * time.Second, 100 * time.Millisecond
)

// tidyTable merges the table into one part.
func (s *Store) tidyTable(ctx context.Context, t tableParts) error {
	if s.merges.Held(t.table) { // a deletion would wait, and a merge fail
		return fmt.Errorf("merge the table %s into one part: %w", t.table, ErrHeld)
	}
	// The driver makes the bound of the query out of that of the context.
	ctx, cancel := context.WithTimeout(ctx, tidyLimit)
	defer cancel()
	settings := clickhouse.Settings{"optimize_throw_if_noop": 1}
	if t.bare+t.masked == 0 {
		// Another node may have come first: one part is not written again.
		settings["optimize_skip_merged_partitions"] = 1
	}
	if t.bare > 0 && t.parts > 1 {
		if err := s.completeParts(ctx, t.table); err != nil {
			return err
		}
	}
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(settings))
	// A deletion that began before may not have reached all parts yet; such parts cannot be merged.
	for late := time.Now().Add(deletionWait); ; {
		err := s.conn.Exec(ctx, "OPTIMIZE TABLE "+quoteName(t.table)+" FINAL")
		if err == nil {
			return nil
		}
		answer, told := errors.AsType[*clickhouse.Exception](err)
		if !told || answer.Code != codeCannotOptimize || time.Now().After(late) || !background.Wait(ctx, deletionPause) {
			return fmt.Errorf("merge the table %s into one part: %w", t.table, err)
		}
	}
}

// completeParts writes the ClickHouse projections of a table for the parts that lack them: ClickHouse
// merges parts with the same projections only. A part alone gets them by the merge.
func (s *Store) completeParts(ctx context.Context, table string) error {
	names, err := one[[]string](ctx, s, "look for the ClickHouse projections of the table "+table,
		"SELECT groupArray(name) FROM system.projections WHERE database = currentDatabase() AND table = ?", table)
	if err != nil {
		return err
	}
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"mutations_sync": 1}))
	for _, name := range names {
		if err := s.conn.Exec(ctx, "ALTER TABLE "+quoteName(table)+" MATERIALIZE PROJECTION "+quoteName(name)); err != nil {
			return fmt.Errorf("write the ClickHouse projection %s of the table %s: %w", name, table, err)
		}
	}
	return nil
}
