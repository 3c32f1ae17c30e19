package query

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	errata "github.com/errata-log/errata"
)

// Changes says which changes of records are meant: those by the facts from From
// to To, To exclusive, of records last seen from SeenFrom to SeenTo, SeenTo
// exclusive. A zero time does not bound.
type Changes struct {
	From, To         errata.Position
	SeenFrom, SeenTo time.Time
}

// Changed finds the records that the changes made new or different, the newest
// change first, at most limit of them, and counts them all. Records that were
// deleted meanwhile are not among them. Errors: store_unavailable.
//
// No index is sorted by version. What bounds the work is the time: by_time is
// sorted by it and holds the version, so that the records last seen within an
// hour are found in a few blocks at the end of each part. Without SeenFrom the
// versions of all records are read, which is 80 MB of 10 M.
func (r *Reader) Changed(ctx context.Context, c Changes, limit int) (records []errata.Record, total uint64, err error) {
	ctx, stop := bounded(ctx, r.patience)
	defer stop()
	if err = r.trusting(func() (err error) {
		records, total, err = r.changed(ctx, c, limit)
		return err
	}); err != nil {
		return nil, 0, r.explain(ctx, "find what changed", err)
	}
	return records, total, nil
}

// changedWindow is among how many rows the newest changes are looked for. A
// record that is counted in every batch leaves two rows behind for each.
func changedWindow(limit int) uint64 { return 4 * window(uint64(limit)) }

func (r *Reader) changed(ctx context.Context, c Changes, limit int) ([]errata.Record, uint64, error) {
	seenTo := lastStorable.UnixMilli() + 1
	if !c.SeenTo.IsZero() {
		seenTo = storable(c.SeenTo)
	}
	q, err := build("changed.sql", statementData{}, nil,
		clickhouse.Settings{"max_threads": 1, "optimize_use_projections": 1},
		bind("from", uint64(c.From)), bind("to", uint64(c.To)),
		bind("seen_from", storable(c.SeenFrom)), bind("seen_to", seenTo),
		bind("limit", uint64(limit)), bind("window", changedWindow(limit)))
	if err != nil {
		return nil, 0, err
	}
	var (
		total      int64
		books      []int8
		signatures []string
		versions   []uint64
	)
	if err := r.queryRow(ctx, q).Scan(&total, &books, &signatures, &versions); err != nil {
		return nil, 0, err
	}
	keys := make([]key, len(versions))
	for i := range keys {
		keys[i] = keyOf(books[i], signatures[i], versions[i])
	}
	records, err := r.rows(ctx, keys)
	if err != nil {
		return nil, 0, fmt.Errorf("read %d records that changed: %w", len(versions), err)
	}
	return records, max(uint64(max(total, 0)), uint64(len(records))), nil
}
