package projector

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

var (
	//go:embed sql/totals.sql
	sqlTotals string
	//go:embed sql/totals_without.sql
	sqlTotalsWithout string
)

// Totals are how many records there are and what they count. They stand in the
// checkpoint, changed by each batch, so that the tables can be held against a
// number that was not read from them.
type Totals struct {
	// Known is false in a checkpoint of a program that kept no totals, and
	// while nothing has been folded.
	Known    bool       `json:"known,omitempty"`
	System   BookTotals `json:"system"`
	Database BookTotals `json:"database"`
}

// BookTotals are those of one book.
type BookTotals struct {
	Records uint64 `json:"records"`
	Count   uint64 `json:"count"`
}

// book is the part of a book, nil for a book that has none.
func (t *Totals) book(b errata.Book) *BookTotals {
	switch b {
	case errata.BookSystem:
		return &t.System
	case errata.BookDatabase:
		return &t.Database
	default:
		return nil
	}
}

// set notes what a query said of a book. Less than nothing cannot be: it is
// kept as what it wraps around to, which equals no total.
func (t *Totals) set(name string, records, count int64) {
	book, _ := errata.ParseBook(name)
	if part := t.book(book); part != nil {
		*part = BookTotals{Records: uint64(records), Count: uint64(count)}
	}
}

// records is how many there are in both books.
func (t Totals) records() uint64 { return t.System.Records + t.Database.Records }

// after are the totals behind the changes.
func (t Totals) after(changes []change) Totals {
	for i := range changes {
		c := &changes[i]
		part := t.book(c.key.book)
		if part == nil {
			continue
		}
		if c.old != nil {
			part.Records--
			part.Count -= c.old.Count
		}
		if c.now != nil {
			part.Records++
			part.Count += c.now.Count
		}
	}
	t.Known = true
	return t
}

// less are the totals without those of what is removed.
func (t Totals) less(removed Totals) Totals {
	t.System.Records -= removed.System.Records
	t.System.Count -= removed.System.Count
	t.Database.Records -= removed.Database.Records
	t.Database.Count -= removed.Database.Count
	t.Known = true
	return t
}

// Difference says in words where the tables hold something else than they
// must; "" when they do not.
func (t Totals) Difference(tables Totals) string {
	for _, part := range []struct {
		book       string
		must, have BookTotals
	}{{"system", t.System, tables.System}, {"database", t.Database, tables.Database}} {
		if part.must != part.have {
			return fmt.Sprintf("book %s: the checkpoint says %d records that count %d, the table holds %d that count %d",
				part.book, part.must.Records, part.must.Count, int64(part.have.Records), int64(part.have.Count))
		}
	}
	return ""
}

// CountOptions say how the tables are counted.
type CountOptions struct {
	// Primary counts the rows themselves, without what the projections of the
	// table have added up: for when those are in doubt.
	Primary bool
	// Without are names of parts that are taken for absent; Primary goes with it.
	Without []string
}

// Count counts the tables, and reads the checkpoint that vouches for what it
// counted: both are of one moment.
func (s *Store) Count(ctx context.Context, o CountOptions) (cp Checkpoint, have Totals, err error) {
	settings := clickhouse.Settings{"max_threads": 2, "optimize_use_projections": 1, "enable_shared_storage_snapshot_in_query": 1}
	statement, args := sqlTotals, []any{clickhouse.Named("shard", s.shardKey().String())}
	if len(o.Without) > 0 {
		statement, args = sqlTotalsWithout, append(args, clickhouse.Named("without", o.Without))
	}
	if o.Primary || len(o.Without) > 0 {
		settings["optimize_use_projections"], settings["use_skip_indexes"] = 0, 0
	}
	have.Known = true
	err = s.each(clickhouse.Context(ctx, clickhouse.WithSettings(settings)), "count the records", func(rows driver.Rows) (err error) {
		var (
			book, text     string
			records, count int64
			version        uint64
		)
		if err := rows.Scan(&book, &records, &count, &version, &text); err != nil {
			return err
		}
		if book == checkpointBook { // whose first number is its sign
			cp, err = decodeCheckpoint(version, uint64(count), text, records)
			return err
		}
		have.set(book, records, count)
		return nil
	}, statement, args...)
	return cp, have, err
}

// totals are those at the checkpoint. A projection of an older program has
// none: they are taken from the tables once, and carried from then on.
func (p *Projector) totals(ctx context.Context, cp Checkpoint) (Totals, error) {
	if cp.Row == 0 || cp.Totals.Known {
		return cp.Totals, nil
	}
	at, have, err := p.store.Count(ctx, CountOptions{Primary: true})
	if err == nil && at.Row != cp.Row {
		err = fmt.Errorf("checkpoint is row %d, not %d: %w", at.Row, cp.Row, ErrRaceLost)
	}
	return have, err
}
