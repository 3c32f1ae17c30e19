package query

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

// Trends reads the trends of many records in one query, over a range that
// [ParseRange] takes. The trends have the order of the keys. A record that does
// not exist, or is of none of the projects, has zeros. Errors: invalid_range, store_unavailable.
func (r *Reader) Trends(ctx context.Context, keys []errata.RecordKey, over string, among Projects) ([]Trend, error) {
	steps, err := ParseRange(over, r.now())
	if err != nil {
		return nil, err
	}
	ctx, stop := bounded(ctx, r.patience)
	defer stop()
	var trends []Trend
	if err := r.trusting(func() (err error) {
		trends, err = r.trends(ctx, keys, steps, among)
		return err
	}); err != nil {
		return nil, r.explain(ctx, "read the trends of records", err)
	}
	return trends, nil
}

func (r *Reader) trends(ctx context.Context, keys []errata.RecordKey, over Range, among Projects) ([]Trend, error) {
	trends := make([]Trend, len(keys))
	places := make(map[errata.RecordKey][]int, len(keys))
	for i, key := range keys {
		trends[i] = Trend{Range: over, Counts: make([]uint64, over.steps())}
		places[key] = append(places[key], i)
	}
	if len(keys) == 0 || among.None() {
		return trends, nil
	}
	q, err := build("trends.sql", statementData{}, among.fragments(), keySettings(), append(over.args(), bind("signatures", signaturesOf(keys)))...)
	if err != nil {
		return nil, err
	}
	err = r.each(ctx, q, func(row driver.Rows) error {
		var (
			book      int8
			signature string
			bucket    int64
			events    uint64
		)
		if err := row.Scan(&book, &signature, &bucket, &events); err != nil {
			return fmt.Errorf("read a step: %w", err)
		}
		for _, i := range places[errata.RecordKey{Book: errata.Book(book), Signature: errata.Signature([]byte(signature))}] {
			trends[i].Counts[bucket] += events
			trends[i].Total += events
		}
		return nil
	})
	return trends, err
}

// steps is the number of steps in the range.
func (r Range) steps() int { return int(r.To.Sub(r.From) / r.Step) }

// args are the parameters of a statement that reads the range by its steps.
func (r Range) args() []any {
	return []any{bind("from", r.From.Unix()), bind("to", r.To.Unix()), bind("step", int64(r.Step/time.Second))}
}

// signaturesOf are the signatures of the keys as parameters, each once.
func signaturesOf(keys []errata.RecordKey) []string {
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = key.Signature.String()
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// maxLive bounds the records that one query of Live asks for.
const maxLive = 5000

// Live reads records as they are now. Records that do not exist are missing from
// the map. Records of the same signatures in the other book are in it too.
// Errors: store_unavailable.
func (r *Reader) Live(ctx context.Context, keys []errata.RecordKey) (map[errata.RecordKey]errata.Record, error) {
	found := make(map[errata.RecordKey]errata.Record, len(keys))
	for part := range slices.Chunk(keys, maxLive) {
		limited, stop := bounded(ctx, r.patience)
		records, err := r.live(limited, part)
		if err != nil {
			err = r.explain(limited, "read records", err)
		}
		stop()
		if err != nil {
			return nil, err
		}
		maps.Copy(found, records)
	}
	return found, nil
}

func (r *Reader) live(ctx context.Context, keys []errata.RecordKey) (map[errata.RecordKey]errata.Record, error) {
	found := make(map[errata.RecordKey]errata.Record, len(keys))
	if len(keys) == 0 {
		return found, nil
	}
	q, err := build("live.sql", statementData{}, nil, keySettings(), bind("signatures", signaturesOf(keys)))
	if err != nil {
		return nil, err
	}
	err = r.each(ctx, q, func(row driver.Rows) error {
		record, err := scanRecord(row)
		if err != nil {
			return err
		}
		found[record.Key()] = record
		return nil
	})
	return found, err
}

// CountUpTo counts the records of the projects, for each book, that were last seen at
// the time before or earlier. A cleanup with this date removes them. Errors:
// store_unavailable.
func (r *Reader) CountUpTo(ctx context.Context, before time.Time, among Projects) (errata.Changed, error) {
	if among.None() {
		return errata.Changed{}, nil
	}
	ctx, stop := bounded(ctx, r.patience)
	defer stop()
	q, err := build("count_up_to.sql", statementData{}, among.fragments(),
		clickhouse.Settings{"max_threads": 2, "optimize_use_projections": 1}, bind("before", storable(before)))
	if err != nil {
		return errata.Changed{}, err
	}
	var in [2]int64
	if err := r.trusting(func() error { return r.queryRow(ctx, q).Scan(&in[0], &in[1]) }); err != nil {
		return errata.Changed{}, r.explain(ctx, "count the records up to a time", err)
	}
	return errata.Changed{System: uint64(max(in[0], 0)), Database: uint64(max(in[1], 0))}, nil
}
