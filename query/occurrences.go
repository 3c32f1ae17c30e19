package query

import (
	"context"
	"net/url"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	errata "github.com/errata-log/errata"
)

// OccurrenceFilter selects occurrences of a record. A zero field does not narrow.
type OccurrenceFilter struct {
	Environments, Releases Names
	// User is as an [Occurrence] shows it.
	User string
	// Tags must all hold for the occurrence.
	Tags []errata.Tag
	// From and To bound the time of the occurrence, both inclusive, to the millisecond.
	From, To time.Time
}

// Occurrences are one page of the occurrences of a record, the newest first.
type Occurrences struct {
	List []Occurrence
	// Count is how often the record occurred; the number of its last occurrence.
	Count uint64
	// Next is the cursor of the next page, 0 on the last one.
	Next uint64
}

// ParseOccurrences reads the query parameters that select occurrences of a record.
// Errors: invalid_pattern, invalid_date.
func ParseOccurrences(values url.Values, now time.Time) (OccurrenceFilter, error) {
	p := parser{values: values}
	f := OccurrenceFilter{
		Environments: p.names("environment"), Releases: p.names("release"), User: p.text("user"), Tags: p.tags("tag"),
		From: p.bound("from", now), To: p.bound("to", now),
	}
	return f, p.err
}

// bound is a day or a time: its beginning for from, its end for to.
func (p *parser) bound(name string, now time.Time) time.Time {
	text := p.value(name)
	if text == "" {
		return time.Time{}
	}
	first, last, ok := parseEnd(text, now)
	if !ok {
		p.fail(errata.Errorf(errata.KindInvalidDate, "%s %s is neither a time, such as 2026-11-21T03:58:25Z, nor a day, such as 2026-11-21.", name, shown(text)))
	}
	if name == "to" {
		return last
	}
	return first
}

// fragments are the conditions of the filter.
func (f OccurrenceFilter) fragments() []fragment {
	all := append(f.Environments.fragment("environment"), f.Releases.fragment("release")...)
	if hash, ok := userHash(f.User); ok {
		all = append(all, fragment{name: "user_hash", args: []any{bind("user_hash", hash)}})
	} else if f.User != "" {
		all = append(all, fragment{name: "user", args: []any{bind("user", f.User)}})
	}
	if !f.From.IsZero() {
		all = append(all, fragment{name: "time_from", args: []any{bind("from", storable(f.From))}})
	}
	if !f.To.IsZero() {
		all = append(all, fragment{name: "time_to", args: []any{bind("to", storable(f.To))}})
	}
	return append(all, tagFragments(f.Tags)...)
}

// Occurrences reads a page of the occurrences of a record of the projects. A cursor of 0
// is the first page. It sees every occurrence that was counted before the call. Errors:
// those of [ParseOccurrences], not_found, store_unavailable.
func (r *Reader) Occurrences(ctx context.Context, book errata.Book, signature errata.Signature, values url.Values, cursor uint64, limit int, among Projects) (Occurrences, error) {
	f, err := ParseOccurrences(values, r.now())
	if err != nil {
		return Occurrences{}, err
	}
	ctx, stop := bounded(ctx, r.patience)
	defer stop()
	var page Occurrences
	err = r.trusting(func() (err error) {
		page, err = r.occurrences(ctx, book, signature, f, cursor, limit, among)
		return err
	})
	if err != nil {
		return Occurrences{}, r.explain(ctx, "list the occurrences of a record", err)
	}
	return page, nil
}

func (r *Reader) occurrences(ctx context.Context, book errata.Book, signature errata.Signature, f OccurrenceFilter, cursor uint64, limit int, among Projects) (Occurrences, error) {
	record, err := r.record(ctx, book, signature, among)
	if err != nil {
		return Occurrences{}, err
	}
	fragments := f.fragments()
	if cursor > 0 {
		fragments = append(fragments, upTo(errata.Position(cursor-1)))
	}
	list, err := r.occurrencesOf(ctx, &record, fragments, Descending, limit+1)
	if err != nil {
		return Occurrences{}, err
	}
	page := Occurrences{List: list, Count: record.Count}
	if len(list) > limit {
		page.List, page.Next = list[:limit], uint64(list[limit-1].Position)
	}
	return page, r.fillAvailable(ctx, &record, page.List)
}

// rowsInOrder are the settings for a few occurrences from one end of a record's rows.
func rowsInOrder() clickhouse.Settings {
	return clickhouse.Settings{
		"max_threads": 1, "max_block_size": shallowBlock, "optimize_use_projections": 0, "use_skip_indexes": 0,
		"read_in_order_use_buffering": 0, "use_top_k_dynamic_filtering": 0,
	}
}
