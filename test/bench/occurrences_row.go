package main

import (
	"context"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
)

var (
	//go:embed load_occurrences.sql
	sqlLoadOccurrences string
	//go:embed load_records.sql
	sqlLoadRecords string
	//go:embed load_deployments.sql
	sqlLoadDeployments string
)

const (
	occurrenceDays = 30
	// occurrencesEach is how many occurrences a record has on average, and
	// maxOccurring how many records there are at most.
	occurrencesEach = 100
	maxOccurring    = 200_000
	// occurrenceBytes is how much of the disk an occurrence may take.
	occurrenceBytes = 60
)

var (
	limitOccurrences = limits{30, 30, 30}
	limitFacets      = limits{100, 100, 100}
	limitTagged      = limits{250, 250, 250}
)

// occurrences measures what is asked about single occurrences, for each size in
// -occurrences. Their rows are written directly: they would take an hour through the log.
func (b *bench) occurrences() error {
	for _, n := range b.sizes.occurrences {
		if err := b.occurrencesOf(n); err != nil {
			return fmt.Errorf("%s occurrences: %w", sizeName(n), err)
		}
	}
	return nil
}

func (b *bench) occurrencesOf(n int) (err error) {
	ctx := context.Background()
	f, done, err := b.occurring(ctx, n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := f.settle(ctx); err != nil {
		return err
	}
	some, err := f.sampleOccurrences(ctx)
	if err != nil {
		return err
	}
	if err := b.occurrenceBytesRow(ctx, f, n); err != nil {
		return err
	}
	for i, q := range occurrenceQueries(nil, some) {
		if strings.HasPrefix(q.name, b.queries) {
			fresh := func() listQuery {
				return occurrenceQueries(query.New(query.Config{ClickHouse: f.engines.ReadOnlyClickHouse()}), some)[i]
			}
			if err := b.queryRow(ctx, f, n, fresh); err != nil {
				return fmt.Errorf("%s: %w", q.name, err)
			}
		}
	}
	return nil
}

// occurring is a projection with about n occurrences: a kept one, or one that is filled
// now. done ends it.
func (b *bench) occurring(ctx context.Context, n int) (f *folding, done func() error, err error) {
	var was kept
	dir := filepath.Join(b.dir, "occurrences-"+sizeName(n))
	if b.stocks != "" {
		dir = filepath.Join(b.stocks, "occurrences-"+sizeName(n))
		if was, err = readKept(dir); err != nil {
			return nil, nil, err
		}
	}
	if f, err = b.folding(dir); err != nil {
		return nil, nil, err
	}
	if was.Events != n {
		if err = f.loadOccurrences(ctx, n); err == nil && b.stocks != "" {
			err = writeKept(dir, kept{Events: n})
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.close())
	}
	if b.stocks != "" {
		return f, f.close, nil
	}
	return f, func() error { return errors.Join(f.close(), os.RemoveAll(dir)) }, nil
}

// loadOccurrences writes about n occurrences, a day in each insert, and their records.
func (f *folding) loadOccurrences(ctx context.Context, n int) error {
	records, sum := min(max(n/occurrencesEach, 1), maxOccurring), 0.0
	for r := range records {
		sum += math.Pow(float64(r+1), -0.8)
	}
	conn := f.engines.ClickHouse()
	for day := range occurrenceDays {
		if err := conn.Exec(ctx, sqlLoadOccurrences, clickhouse.Named("scale", float64(n)/sum),
			clickhouse.Named("records", uint64(records)), clickhouse.Named("day", uint64(day))); err != nil {
			return fmt.Errorf("write day %d: %w", day, err)
		}
	}
	for _, statement := range []string{sqlLoadRecords, sqlLoadDeployments} {
		if err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("write what the occurrences are of: %w", err)
		}
	}
	return nil
}

// occurred is an occurrence to ask for.
type occurred struct {
	errata.RecordKey
	position errata.Position
	event    string
	tags     []errata.Tag
}

// sampleOccurrences are any occurrences, so that loud records come more often.
func (f *folding) sampleOccurrences(ctx context.Context) (some []occurred, err error) {
	rows, err := f.engines.ClickHouse().Query(ctx, `SELECT toInt8(book) AS b, signature, position, event_id, tags FROM occurrences
		WHERE book > 'checkpoint' ORDER BY cityHash64(event_id) LIMIT ?`, sampleCount)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var (
			book             int8
			signature, event string
			position         uint64
			tags             []string
		)
		if err := rows.Scan(&book, &signature, &position, &event, &tags); err != nil {
			return nil, err
		}
		one := occurred{errata.RecordKey{Book: errata.Book(book), Signature: errata.Signature([]byte(signature))}, errata.Position(position), hex.EncodeToString([]byte(event)), nil}
		for _, tag := range tags {
			key, value, _ := strings.Cut(tag, "\t")
			one.tags = append(one.tags, errata.Tag{Key: key, Value: value})
		}
		some = append(some, one)
	}
	if err := rows.Err(); err != nil || len(some) == 0 {
		return nil, errors.Join(err, errors.New("there are no occurrences"))
	}
	return some, nil
}

func (b *bench) occurrenceBytesRow(ctx context.Context, f *folding, n int) error {
	var rows, bytes, parts uint64
	if err := f.engines.ClickHouse().QueryRow(ctx, `SELECT sum(rows), sum(bytes_on_disk), count() FROM system.parts
		WHERE active AND database = currentDatabase() AND table = 'occurrences'`).Scan(&rows, &bytes, &parts); err != nil {
		return fmt.Errorf("read the size of the table: %w", err)
	}
	row{name: sizeName(n) + ": an occurrence on the disk", ours: float64(bytes) / float64(rows), unit: "B", limit: occurrenceBytes,
		note: fmt.Sprintf("%d rows in %d parts", rows, parts)}.write(b.out)
	return nil
}

// occurrenceQueries are the kinds of questions about single occurrences.
func occurrenceQueries(r *query.Reader, some []occurred) []listQuery {
	of := func(i int) occurred { return some[i%len(some)] }
	all := query.Projects{}
	tagged := func(name string, tag int, f query.Filter) listQuery {
		return listQuery{name, limitTagged, func(ctx context.Context, i int) error {
			with := f
			with.Tags = of(i).tags[tag : tag+1]
			return found(r.Find(ctx, with, query.Page{}))
		}}
	}
	return []listQuery{
		{"occurrences of a record", limitOccurrences, func(ctx context.Context, i int) error {
			page, err := r.Occurrences(ctx, of(i).Book, of(i).Signature, nil, 0, query.DefaultLimit, all)
			if err == nil && len(page.List) == 0 {
				err = errors.New("nothing was found")
			}
			return err
		}},
		{"occurrences, a page in the middle", limitOccurrences, func(ctx context.Context, i int) error {
			_, err := r.Occurrences(ctx, of(i).Book, of(i).Signature, nil, uint64(of(i).position), query.DefaultLimit, all)
			return err
		}},
		{"one occurrence", limitOccurrences, func(ctx context.Context, i int) error {
			_, err := r.Occurrence(ctx, of(i).Book, of(i).Signature, fmt.Sprint(uint64(of(i).position)), all)
			return err
		}},
		{"an event id", limitOccurrences, func(ctx context.Context, i int) error {
			_, _, err := r.Event(ctx, of(i).event, all)
			return err
		}},
		{"list by event id", limitTagged, func(ctx context.Context, i int) error {
			return found(r.Find(ctx, query.Filter{EventID: of(i).event}, query.Page{}))
		}},
		{"facets", limitFacets, func(ctx context.Context, i int) error {
			_, err := r.Facets(ctx, of(i).Book, of(i).Signature, all)
			return err
		}},
		{"trend by release", limitFacets, func(ctx context.Context, i int) error {
			_, err := r.ReleaseTrend(ctx, of(i).Book, of(i).Signature, "90d", all)
			return err
		}},
		{"default page, with users", limitDefault, func(ctx context.Context, _ int) error { return found(r.Find(ctx, query.Filter{}, query.Page{})) }},
		{"page by count, with users", limitTagged, func(ctx context.Context, _ int) error {
			return found(r.Find(ctx, query.Filter{}, query.Page{Order: query.OrderCount}))
		}},
		tagged("tag, one in 5,000", 3, query.Filter{}),
		tagged("tag, one in 30", 0, query.Filter{}),
		tagged("tag, one in 4", 2, query.Filter{}),
		tagged("tag and environment", 2, query.Filter{Environments: query.Names{"qa"}}),
		tagged("tag, last week", 2, query.Filter{From: time.UnixMilli(1792627200000).AddDate(0, 0, 23)}),
	}
}
