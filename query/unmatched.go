package query

import (
	"context"
	"fmt"
	"strings"
)

// A filter may be about occurrences and about their records. Then a statement about occurrences
// collects the ids of the records that match, and looks up each occurrence among them. 10 M ids take
// seconds to collect, and most of the memory of a query. A filter like "open" matches most records: then
// the statement collects those that do not match.

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
	// Not hinted: ClickHouse does not document what a hint does inside a NOT.
	if texts, args, err = renderAll(fragments); err != nil {
		return nil, nil, err
	}
	return []string{"NOT (" + strings.Join(texts, "\n            AND ") + ")"}, args, nil
}
