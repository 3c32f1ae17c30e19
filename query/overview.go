package query

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

const (
	// topRecords is how many records each list of an overview has: as many as a
	// screen shows.
	topRecords = 10
	// firstTop is how many candidates the first query takes, because some may be
	// of deleted records. The last query takes mostTop, even if that is too few.
	firstTop, mostTop = 4 * topRecords, 4000
	// overviewSeconds bounds each query of an overview. The table hourly is
	// sorted by record, so the top records of any range are searched in all of
	// its rows: half a second for 8 M rows on a busy small machine. Ten times as
	// many take longer than [maxSeconds]. (The series are read from by_level.)
	overviewSeconds = 20
	// overviewPatience is the [answerTimeout] of an overview: two long queries.
	overviewPatience = (2*overviewSeconds + 3) * time.Second
)

// Overview is what happened in a range.
type Overview struct {
	Range
	// Series has one entry for each book and level that occurred, the most severe
	// level first in each book. It counts also occurrences of deleted records.
	Series []Series
	// Growing are the records that occurred more often in the second half of
	// the range than in the first, the largest difference first.
	Growing []Growing
	// Noisy are the records that occurred most.
	Noisy []Noisy
	// Projects are those of the occurrences in Series, the most frequent first.
	Projects []ProjectEvents
}

// Series is how often one level occurred in a book.
type Series struct {
	Book  errata.Book
	Level errata.Level
	// Counts has one number for each step, the oldest first.
	Counts []uint64
}

// Growing is a record with its occurrences in the first half of the range and
// in the second.
type Growing struct {
	Record      errata.Record
	Before, Now uint64
}

// Noisy is a record with its occurrences in the range.
type Noisy struct {
	Record errata.Record
	Count  uint64
}

// Overview reads what happened to the projects in a range that [ParseRange] takes.
// Errors: invalid_range, store_unavailable.
func (r *Reader) Overview(ctx context.Context, over string, among Projects) (Overview, error) {
	steps, err := ParseRange(over, r.now())
	if err != nil {
		return Overview{}, err
	}
	o := Overview{Range: steps}
	if among.None() {
		return o, nil
	}
	ctx, stop := bounded(ctx, max(r.patience, overviewPatience))
	defer stop()
	if err = r.trusting(func() (err error) {
		if o.Series, err = r.series(ctx, steps, among); err == nil {
			o.Projects, err = r.projectEvents(ctx, steps, among)
		}
		return err
	}); err != nil {
		return Overview{}, r.explain(ctx, "read the series of an overview", err)
	}
	if err := r.tops(ctx, &o, among); err != nil {
		return Overview{}, r.explain(ctx, "read the top records of an overview", err)
	}
	return o, nil
}

// overviewSettings allow two threads, half of a small machine. inOrder groups
// the rows in the order of the table.
func overviewSettings(inOrder bool) clickhouse.Settings {
	return clickhouse.Settings{
		"max_threads": 2, "max_execution_time": overviewSeconds, "optimize_aggregation_in_order": zeroOrOne(inOrder),
	}
}

func seriesStatement(over Range, among Projects) (statement, error) {
	return build("overview_series.sql", statementData{}, among.fragments(), overviewSettings(false), over.args()...)
}

func (r *Reader) series(ctx context.Context, over Range, among Projects) ([]Series, error) {
	q, err := seriesStatement(over, among)
	if err != nil {
		return nil, err
	}
	var all []Series
	err = r.each(ctx, q, func(row driver.Rows) error {
		var (
			book   int8
			name   string
			began  int64
			events uint64
		)
		if err := row.Scan(&book, &name, &began, &events); err != nil {
			return fmt.Errorf("read a step: %w", err)
		}
		level, _ := errata.ParseLevel(name)
		if last := len(all) - 1; last < 0 || all[last].Book != errata.Book(book) || all[last].Level != level {
			all = append(all, Series{Book: errata.Book(book), Level: level, Counts: make([]uint64, over.steps())})
		}
		all[len(all)-1].Counts[time.Unix(began, 0).Sub(over.From)/over.Step] += events
		return nil
	})
	return all, err
}

// candidate belongs in a list unless its record is deleted. events counts the
// whole range, now its second half.
type candidate struct {
	key         errata.RecordKey
	id          errata.Position
	events, now uint64
}

// tops fills in both lists. The hours do not say whether their record is
// deleted, so tops takes more candidates until enough of them are live.
func (r *Reader) tops(ctx context.Context, o *Overview, among Projects) error {
	for limit := uint64(firstTop); ; limit *= 10 {
		noisy, growing, err := r.candidates(ctx, o.Range, among, limit)
		if err != nil {
			return err
		}
		var keys []errata.RecordKey
		for _, list := range [][]candidate{noisy, growing} {
			for _, c := range list {
				keys = append(keys, c.key)
			}
		}
		live, err := r.live(ctx, keys)
		if err != nil {
			return err
		}
		o.Noisy, o.Growing = nil, nil
		for _, c := range alive(noisy, live) {
			o.Noisy = append(o.Noisy, Noisy{live[c.key], c.events})
		}
		for _, c := range alive(growing, live) {
			o.Growing = append(o.Growing, Growing{Record: live[c.key], Before: c.events - c.now, Now: c.now})
		}
		short := len(o.Noisy) < topRecords && uint64(len(noisy)) == limit ||
			len(o.Growing) < topRecords && uint64(len(growing)) == limit
		if !short || limit >= mostTop {
			return r.topUsers(ctx, o)
		}
	}
}

// topUsers fills in the users of the top records.
func (r *Reader) topUsers(ctx context.Context, o *Overview) error {
	var records []errata.Record
	for _, n := range o.Noisy {
		records = append(records, n.Record)
	}
	for _, g := range o.Growing {
		records = append(records, g.Record)
	}
	if err := r.countUsers(ctx, records); err != nil {
		return err
	}
	for i := range o.Noisy {
		o.Noisy[i].Record = records[i]
	}
	for i := range o.Growing {
		o.Growing[i].Record = records[len(o.Noisy)+i]
	}
	return nil
}

// alive are the first candidates whose records still exist.
func alive(list []candidate, live map[errata.RecordKey]errata.Record) []candidate {
	var kept []candidate
	for _, c := range list {
		if record, there := live[c.key]; there && record.ID == c.id && len(kept) < topRecords {
			kept = append(kept, c)
		}
	}
	return kept
}

func (r *Reader) candidates(ctx context.Context, over Range, among Projects, limit uint64) (noisy, growing []candidate, err error) {
	half := over.From.Add(over.To.Sub(over.From) / 2)
	q, err := build("overview_top.sql", statementData{}, among.fragments(), overviewSettings(true),
		append(over.args(), bind("half", half.Unix()), bind("limit", limit))...)
	if err != nil {
		return nil, nil, err
	}
	var lists [2]struct {
		ids, events, latest []uint64
		books               []int8
		signatures          []string
	}
	var dest []any
	for i := range lists {
		l := &lists[i]
		dest = append(dest, &l.ids, &l.books, &l.signatures, &l.events, &l.latest)
	}
	if err := r.queryRow(ctx, q).Scan(dest...); err != nil {
		return nil, nil, err
	}
	var out [2][]candidate
	for i, l := range lists {
		for k := range l.ids {
			key := errata.RecordKey{Book: errata.Book(l.books[k]), Signature: errata.Signature([]byte(l.signatures[k]))}
			out[i] = append(out[i], candidate{key, errata.Position(l.ids[k]), l.events[k], l.latest[k]})
		}
	}
	return out[0], out[1], nil
}
