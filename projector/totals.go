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

// Totals are the number of records and the sum of their counts. Each batch changes
// those in the checkpoint, so that the tables can be compared with numbers that
// were not read from them.
type Totals struct {
	// Known is false in a checkpoint of an older version, and before the first
	// commit.
	Known    bool       `json:"known,omitempty"`
	System   BookTotals `json:"system"`
	Database BookTotals `json:"database"`
}

// BookTotals are the totals of one book.
type BookTotals struct {
	Records uint64 `json:"records"`
	Count   uint64 `json:"count"`
}

// book returns the totals of a book, nil for any other value.
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

// set sets the totals of a book. Negative numbers, of damaged tables, wrap around
// to ones that equal no total.
func (t *Totals) set(name string, records, count int64) {
	book, _ := errata.ParseBook(name)
	if part := t.book(book); part != nil {
		*part = BookTotals{Records: uint64(records), Count: uint64(count)}
	}
}

// records is the number of records in both books.
func (t Totals) records() uint64 { return t.System.Records + t.Database.Records }

// after returns the totals after the changes.
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

// less returns the totals without those of the removed records.
func (t Totals) less(removed Totals) Totals {
	t.System.Records -= removed.System.Records
	t.System.Count -= removed.System.Count
	t.Database.Records -= removed.Database.Records
	t.Database.Count -= removed.Database.Count
	t.Known = true
	return t
}

// Difference says in words how the totals of the tables differ from these; "" when
// they are equal.
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
	// Primary counts the rows themselves, and not the sums of ClickHouse
	// projections, which may be damaged.
	Primary bool
	// Without names parts that are not counted. It implies Primary.
	Without []string
}

// Count counts the records and reads the checkpoint of the same moment.
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

// totals returns the totals at the checkpoint. For a checkpoint of an older
// version, which has none, it counts the tables.
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
