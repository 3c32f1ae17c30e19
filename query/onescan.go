package query

import (
	"context"
	"fmt"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/internal/packed"
)

// maxOneScan is the largest window of one_scan.sql, which keeps that many rows
// sorted while it reads.
const maxOneScan = 2000

// inOneScan says whether one statement is to read both total and page. That pays
// when the filter reads long columns, because reading them is most of the work.
func inOneScan(f Filter, p Page) bool {
	_, sortable := sortKey(p.Order, p.Direction)
	return f.wide() && sortable && p.slice().window <= maxOneScan
}

// oneScanStatement reads total and rows together. Call it only if [inOneScan].
func oneScanStatement(f Filter, s slice) (statement, error) {
	key, _ := sortKey(s.order, s.direction)
	settings := scanSettings(f)
	// Without it, a merge between the two reads could remove rows of the page.
	settings["enable_shared_storage_snapshot_in_query"] = 1
	return build("one_scan.sql", statementData{Key: key}, hinted(f.fragments()), settings, s.args()...)
}

// oneScan reads total and rows together.
func (r *Reader) oneScan(ctx context.Context, f Filter, s slice) (found, error) {
	q, err := oneScanStatement(f, s)
	if err != nil {
		return found{}, err
	}
	return r.scanned(ctx, q, s)
}

// scanned runs the statement of a slice.
func (r *Reader) scanned(ctx context.Context, q statement, s slice) (found, error) {
	var (
		total   int64
		raw     uint64
		columns []string
	)
	if err := r.queryRow(ctx, q).Scan(&total, &raw, &columns); err != nil {
		return found{}, fmt.Errorf("read total and page: %w", err)
	}
	at := found{totals: totalsOf(total, raw), records: make([]errata.Record, 0, len(columns)), tried: s.window}
	for _, column := range columns {
		record, err := packed.Decode(column)
		if err != nil {
			return found{}, err
		}
		at.records = append(at.records, record)
	}
	return at, nil
}
