package query

import (
	"context"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	errata "github.com/errata-log/errata"
)

// Changes selects changes of records: those made by the facts from From up to
// To, of records last seen from SeenFrom up to SeenTo. To and SeenTo are
// exclusive. A zero time sets no bound.
type Changes struct {
	From, To         errata.Position
	SeenFrom, SeenTo time.Time
	// Projects are those whose records are meant.
	Projects Projects
}

// Changed counts the records that the changes made or altered, and returns at
// most limit of them, the newest change first. Records that were deleted since
// are left out. Errors: store_unavailable.
//
// No index is sorted by version, so the time has to bound the work. The
// ClickHouse projection by_time is sorted by last_seen and has the version: the
// records of the last hour stand in a few blocks at the end of each part.
// Without SeenFrom the versions of all records are read, 80 MB for 10 M records.
func (r *Reader) Changed(ctx context.Context, c Changes, limit int) (records []errata.Record, total uint64, err error) {
	if c.Projects.None() {
		return nil, 0, nil
	}
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

// changedWindow is how many rows are searched for the newest changes. A record
// that every batch counts leaves two rows behind for each batch.
func changedWindow(limit int) uint64 { return 4 * window(uint64(limit)) }

func (r *Reader) changed(ctx context.Context, c Changes, limit int) ([]errata.Record, uint64, error) {
	seenTo := lastStorable.UnixMilli() + 1
	if !c.SeenTo.IsZero() {
		seenTo = storable(c.SeenTo)
	}
	q, err := build("changed.sql", statementData{}, c.Projects.fragments(),
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
