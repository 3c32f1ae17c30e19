package query

import (
	"context"
	"fmt"
	"strings"
)

// A filter on occurrences and on their records asks for each occurrence whether its record matches.
// ClickHouse keeps the ids to look them up in: 10 M of them take seconds to collect, and most of the
// memory of a query. "Open" and "without noise" match most records, so then those are looked up that
// do not match.

// lookup says which records the statements about f look up.
func (r *Reader) lookup(ctx context.Context, f Filter) (Filter, error) {
	of := f.ofRecord()
	// A signature has few occurrences. What reads texts seldom matches most records.
	if len(of.fragments()) == 0 || f.Signature != nil || of.wide() {
		return f, nil
	}
	var matching, all totals
	err := atOnce(
		func() (err error) { matching, err = r.total(ctx, of); return err },
		func() (err error) { all, err = r.total(ctx, Filter{}); return err },
	)
	if err != nil {
		return Filter{}, fmt.Errorf("count what matches: %w", err)
	}
	f.unmatched = matching.total > all.total/2
	return f, nil
}

// renderRecords fills in the conditions on the records that are looked up.
func (f Filter) renderRecords() (texts []string, args []any, err error) {
	fragments := f.ofRecord().fragments()
	if !f.unmatched {
		return renderAll(hinted(fragments))
	}
	// Not hinted: what a hint would mean in a NOT is nowhere said.
	if texts, args, err = renderAll(fragments); err != nil {
		return nil, nil, err
	}
	return []string{"NOT (" + strings.Join(texts, "\n            AND ") + ")"}, args, nil
}
