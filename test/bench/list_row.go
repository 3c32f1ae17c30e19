package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/query"
)

const (
	// listRuns is how often each query is measured. warmRuns is how often it runs
	// before, once with each value: a disk that has to be read is another measure.
	// It does so by another reader, because a reader remembers rows.
	listRuns = 200
	warmRuns = sampleCount
)

// list measures every kind of query over stocks of the sizes asked for, each
// beside SELECT 1 over the same connection.
func (b *bench) list() error {
	for _, n := range b.sizes.lists {
		if err := b.listOf(n); err != nil {
			return fmt.Errorf("%s records: %w", sizeName(n), err)
		}
	}
	return nil
}

func (b *bench) listOf(n int) (err error) {
	ctx := context.Background()
	name := "list-" + sizeName(n)
	f, c, done, err := b.stock(ctx, name, n)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, f.close())
		if b.stocks == "" {
			err = errors.Join(err, os.RemoveAll(filepath.Join(b.dir, name)))
		}
	}()
	if err := f.settle(ctx); err != nil {
		return err
	}
	if err := b.loadRows(ctx, f, c, done); err != nil {
		return err
	}
	warm := b.listQueries(query.New(f.engines.ReadOnlyClickHouse()), c)
	for i, q := range b.listQueries(query.New(f.engines.ReadOnlyClickHouse()), c) {
		if !strings.HasPrefix(q.name, b.queries) {
			continue
		}
		ours, one, err := f.times(ctx, warm[i], q)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		row{name: sizeName(n) + ": " + q.name, ours: millis(ours, 99), ceiling: millis(one, 50), unit: "ms p99", limit: q.limits[column(n)],
			note: fmt.Sprintf("p50 %s ms; the ceiling is SELECT 1", figure(millis(ours, 50)))}.write(b.out)
	}
	return nil
}

// times runs the query and SELECT 1 in turn, after the warm one.
func (f *folding) times(ctx context.Context, warm, q listQuery) (ours, one *hdrhistogram.Histogram, err error) {
	for i := range warmRuns {
		if err := warm.run(ctx, i); err != nil {
			return nil, nil, err
		}
	}
	selectOne := func(int) error {
		var n uint8
		return f.engines.ReadOnlyClickHouse().QueryRow(ctx, "SELECT 1").Scan(&n)
	}
	ours, one = newHistogram(), newHistogram()
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

// loadRows writes how fast the stock came in and what it takes on the disk.
func (b *bench) loadRows(ctx context.Context, f *folding, c corpus, done filled) error {
	var records, contexts, hourly, parts uint64
	err := f.engines.ClickHouse().QueryRow(ctx, `SELECT sumIf(bytes_on_disk, table = 'records'), sumIf(bytes_on_disk, table = 'contexts'),
		sumIf(bytes_on_disk, table = 'hourly'), countIf(table = 'records')
		FROM system.parts WHERE active AND database = currentDatabase()`).Scan(&records, &contexts, &hourly, &parts)
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
	row{name: name + ": on the disk", ours: float64(records+contexts+hourly) / float64(c.n), unit: "B/record",
		note: fmt.Sprintf("records %s in %d parts, contexts %s, hourly %s; the log %s more",
			each(records), parts, each(contexts), each(hourly), each(state.Bytes))}.write(b.out)
	return nil
}
