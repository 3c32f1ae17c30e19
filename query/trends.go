package query

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	errata "github.com/errata-log/errata"
)

// Key names a record.
type Key struct {
	Book      errata.Book
	Signature errata.Signature
}

// Trends reads the trends of many records in one query, in the order of the
// keys. A record that there is not has zeros. Errors: store_unavailable.
func (r *Reader) Trends(ctx context.Context, keys []Key, over Range) ([]Trend, error) {
	ctx, stop := bounded(ctx, r.patience)
	defer stop()
	trends, err := r.trends(ctx, keys, over)
	if err != nil {
		return nil, r.explain(ctx, "read the trends of records", err)
	}
	return trends, nil
}

func (r *Reader) trends(ctx context.Context, keys []Key, over Range) ([]Trend, error) {
	trends := make([]Trend, len(keys))
	places := make(map[Key][]int, len(keys))
	for i, key := range keys {
		trends[i] = Trend{Range: over, Counts: make([]uint64, over.steps())}
		places[key] = append(places[key], i)
	}
	if len(keys) == 0 {
		return trends, nil
	}
	q, err := build("trends.sql", statementData{}, nil, keySettings(), append(over.args(), bind("signatures", signaturesOf(keys)))...)
	if err != nil {
		return nil, err
	}
	rows, err := r.query(ctx, q)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var (
			book      int8
			signature string
			bucket    int64
			events    uint64
		)
		if err := rows.Scan(&book, &signature, &bucket, &events); err != nil {
			return nil, fmt.Errorf("read a step: %w", err)
		}
		for _, i := range places[Key{errata.Book(book), errata.Signature([]byte(signature))}] {
			trends[i].Counts[bucket] += events
			trends[i].Total += events
		}
	}
	return trends, rows.Err()
}

// steps is the number of steps in the range.
func (r Range) steps() int { return int(r.To.Sub(r.From) / r.Step) }

// args are the parameters of a statement that reads the range by its steps.
func (r Range) args() []any {
	return []any{bind("from", r.From.Unix()), bind("to", r.To.Unix()), bind("step", int64(r.Step/time.Second))}
}

// signaturesOf are the signatures of the keys as parameters, each once.
func signaturesOf(keys []Key) []string {
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = key.Signature.String()
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// Live reads records as they are now. Those that there are not are missing from
// the map, and records of the same signatures in the other book are in it too.
// Errors: store_unavailable.
func (r *Reader) Live(ctx context.Context, keys []Key) (map[Key]errata.Record, error) {
	ctx, stop := bounded(ctx, r.patience)
	defer stop()
	records, err := r.live(ctx, keys)
	if err != nil {
		return nil, r.explain(ctx, "read records", err)
	}
	return records, nil
}

func (r *Reader) live(ctx context.Context, keys []Key) (map[Key]errata.Record, error) {
	found := make(map[Key]errata.Record, len(keys))
	if len(keys) == 0 {
		return found, nil
	}
	q, err := build("live.sql", statementData{}, nil, keySettings(), bind("signatures", signaturesOf(keys)))
	if err != nil {
		return nil, err
	}
	rows, err := r.query(ctx, q)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		record, err := scanRecord(rows)
		if err != nil {
			return nil, err
		}
		found[Key{record.Book, record.Signature}] = record
	}
	return found, rows.Err()
}

// CountUpTo counts the records of each book that were last seen at before or
// earlier: what a cleanup with this date removes. Errors: store_unavailable.
func (r *Reader) CountUpTo(ctx context.Context, before time.Time) (system, database uint64, err error) {
	ctx, stop := bounded(ctx, r.patience)
	defer stop()
	q, err := build("count_up_to.sql", statementData{}, nil,
		clickhouse.Settings{"max_threads": 2, "optimize_use_projections": 1}, bind("before", storable(before)))
	if err != nil {
		return 0, 0, err
	}
	var in [2]int64
	if err := r.trusting(func() error { return r.queryRow(ctx, q).Scan(&in[0], &in[1]) }); err != nil {
		return 0, 0, r.explain(ctx, "count the records up to a time", err)
	}
	return uint64(max(in[0], 0)), uint64(max(in[1], 0)), nil
}
