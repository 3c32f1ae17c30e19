package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/internal/load"
	"github.com/errata-log/errata/internal/proc"
	"github.com/errata-log/errata/query"
)

const (
	// listRuns is how often each query is measured in a round. Before that it
	// runs warmRuns times, once with each value, so that the disk is not
	// measured. Another reader does that, because a reader caches rows.
	listRuns = 200
	warmRuns = sampleCount
	// listSpan is the time after which no further round of a query begins. For a
	// query of half a second, more rounds would take minutes and show little.
	listSpan = 30 * time.Second
)

// list measures every kind of query over stocks of the sizes in -records, each
// beside SELECT 1 over the same connection.
func (b *bench) list() error { return b.eachStock("list", b.listOf) }

func (b *bench) listOf(ctx context.Context, f *folding, c corpus, done filled) error {
	if err := b.loadRows(ctx, f, c, done); err != nil {
		return err
	}
	for i, q := range b.listQueries(nil, c) {
		if strings.HasPrefix(q.name, b.queries) {
			fresh := func() listQuery {
				return b.listQueries(query.New(query.Config{ClickHouse: f.engines.ReadOnlyClickHouse()}), c)[i]
			}
			if err := b.queryRow(ctx, f, c.n, fresh); err != nil {
				return fmt.Errorf("%s: %w", q.name, err)
			}
		}
	}
	return nil
}

// queryRow measures a query on tables of the size n in rounds, each by a reader of its
// own.
func (b *bench) queryRow(ctx context.Context, f *folding, n int, fresh func() listQuery) error {
	q := fresh()
	for run := range warmRuns {
		if err := q.run(ctx, run); err != nil {
			return err
		}
	}
	before, err := proc.ReadProcessors()
	if err != nil {
		return err
	}
	var p50s, p99s, ones []float64
	for begun := time.Now(); len(p99s) < b.rounds && (len(p99s) == 0 || time.Since(begun) < listSpan); {
		ours, one, err := f.times(ctx, fresh())
		if err != nil {
			return err
		}
		p50s, p99s, ones = append(p50s, millis(ours, 50)), append(p99s, millis(ours, 99)), append(ones, millis(one, 50))
	}
	after, err := proc.ReadProcessors()
	if err != nil {
		return err
	}
	row{name: sizeName(n) + ": " + q.name, ours: median(p99s), ceiling: median(ones), unit: "ms p99", limit: q.limits[column(n)],
		note: fmt.Sprintf("p50 %s ms; best of %d rounds %s; %.0f %% of the processors stolen; the ceiling is SELECT 1",
			figure(median(p50s)), len(p99s), figure(slices.Min(p99s)), 100*after.StolenSince(before))}.write(b.out)
	return nil
}

// times runs the query and SELECT 1 in turn.
func (f *folding) times(ctx context.Context, q listQuery) (ours, one *hdrhistogram.Histogram, err error) {
	selectOne := func(int) error {
		var n uint8
		return f.engines.ReadOnlyClickHouse().QueryRow(ctx, "SELECT 1").Scan(&n)
	}
	ours, one = load.NewHistogram(), load.NewHistogram()
	for i := range listRuns {
		for _, part := range []struct {
			run  func(int) error
			into *hdrhistogram.Histogram
		}{{selectOne, one}, {func(i int) error { return q.run(ctx, i) }, ours}} {
			began := time.Now()
			if err := part.run(i); err != nil {
				return nil, nil, err
			}
			if err := part.into.RecordValue(max(1, time.Since(began).Microseconds())); err != nil {
				return nil, nil, err
			}
		}
	}
	return ours, one, nil
}

// loadRows prints how fast the stock was filled, and its size on disk.
func (b *bench) loadRows(ctx context.Context, f *folding, c corpus, done filled) error {
	var records, contexts, hourly, deployments, occurrences, parts uint64
	err := f.engines.ClickHouse().QueryRow(ctx, `SELECT sumIf(bytes_on_disk, table = 'records'), sumIf(bytes_on_disk, table = 'contexts'),
		sumIf(bytes_on_disk, table = 'hourly'), sumIf(bytes_on_disk, table = 'deployments'),
		sumIf(bytes_on_disk, table = 'occurrences'), countIf(table = 'records')
		FROM system.parts WHERE active AND database = currentDatabase()`).Scan(&records, &contexts, &hourly, &deployments, &occurrences, &parts)
	if err != nil {
		return fmt.Errorf("read the size of the tables: %w", err)
	}
	state, err := eventlog.Inspect(ctx, f.log)
	if err != nil {
		return err
	}
	each := func(bytes uint64) string { return figure(float64(bytes) / float64(c.n)) }
	name := sizeName(c.n)
	row{name: name + ": filled through the log", ours: float64(c.n) / done.took.Seconds(), unit: "records/s",
		note: fmt.Sprintf("%d events, %.0f a second, until visible", done.events, float64(done.events)/done.took.Seconds())}.write(b.out)
	row{name: name + ": on the disk", ours: float64(records+contexts+hourly+deployments+occurrences) / float64(c.n), unit: "B/record",
		note: fmt.Sprintf("records %s in %d parts, contexts %s, hourly %s, deployments %s, occurrences %s; the log %s more",
			each(records), parts, each(contexts), each(hourly), each(deployments), each(occurrences), each(state.Bytes))}.write(b.out)
	return nil
}
