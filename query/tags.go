package query

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

// A filter of tags is about single occurrences, which the table occurrences has: all of
// the filter's tags must hold for one of them, and its environment and its release too.

// tags reads tags, key:value, each in a parameter or on a line of its own.
func (p *parser) tags(name string) (all []errata.Tag) {
	for line := range strings.SplitSeq(strings.Join(p.values[name], "\n"), "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		key, value, cut := strings.Cut(line, ":")
		switch {
		case !cut || strings.TrimSpace(key) == "":
			p.fail(errata.Errorf(errata.KindInvalidPattern, "%s %s is not a tag and its value, such as browser:Firefox.", name, shown(line)))
			return nil
		case len(line) > maxPattern:
			p.fail(errata.Errorf(errata.KindInvalidPattern, "%s is %d bytes long, more than %d: no tag is as long.", name, len(line), maxPattern))
			return nil
		}
		clean := func(text string) string {
			return strings.ReplaceAll(strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD"), tagSeparator, " ")
		}
		all = append(all, errata.Tag{Key: clean(key), Value: clean(value)})
	}
	if len(all) > errata.MaxTrailTags {
		p.fail(errata.Errorf(errata.KindInvalidPattern, "There are %d tags, more than the %d that an occurrence can have.", len(all), errata.MaxTrailTags))
		return nil
	}
	slices.SortFunc(all, func(a, b errata.Tag) int { return strings.Compare(tagText(a), tagText(b)) })
	return slices.Compact(all)
}

// tagText is the tag as the column has it.
func tagText(t errata.Tag) string { return t.Key + tagSeparator + t.Value }

// tagLines are the tags as [Parse] reads them.
func tagLines(tags []errata.Tag) string {
	lines := make([]string, len(tags))
	for i, t := range tags {
		lines[i] = t.Key + ":" + t.Value
	}
	return strings.Join(lines, "\n")
}

// tagFragments are a condition for each tag.
func tagFragments(tags []errata.Tag) (all []fragment) {
	for i, t := range tags {
		all = append(all, fragment{name: "tag", number: i, args: []any{bind(fmt.Sprintf("tag_%d", i), tagText(t))}})
	}
	return all
}

// source is the table that has the occurrences of a scoped filter, and how to sum up
// its rows.
type source struct{ Table, Count, First, Last string }

// source is deployments, which sums up occurrences, unless only single ones tell.
func (f Filter) source() source {
	if len(f.Tags) > 0 {
		return source{"occurrences", "count()", "min(time)", "max(time)"}
	}
	return source{"deployments", "sum(count)", "min(first_seen)", "max(last_seen)"}
}

// sinceOnly turns the beginning of a range without an end into a condition on single
// occurrences, where only they tell: a record was seen since then when one of them was.
func (f Filter) sinceOnly() Filter {
	if len(f.Tags) > 0 && f.To.IsZero() && f.MinOccurrence <= 1 {
		f.since, f.From = f.From, time.Time{}
	}
	return f
}

// taggedWindowSettings are for the occurrences of a short time; when it began is read
// from by_time of records.
func taggedWindowSettings() clickhouse.Settings {
	return clickhouse.Settings{"max_threads": 2, "optimize_use_projections": 1, "read_in_order_use_buffering": 0, "use_top_k_dynamic_filtering": 0}
}

// taggedStatement finds the page of a filter of tags in one go, with its numbers. It keeps all
// records that match in memory. With millions of them it fails, early, and [Reader.inScope] goes on
// without it.
func taggedStatement(f Filter, p Page) (statement, error) {
	settings := scopedSettings(f)
	delete(settings, "max_bytes_before_external_group_by")
	return scopedStatement("tagged.sql", f, statementData{Order: scopedOrder(f, p)}, settings, bind("limit", uint64(p.Limit)), bind("offset", p.offset()))
}

// inTags lists a page of a filter of tags, in an order that the occurrences know.
func (r *Reader) inTags(ctx context.Context, f Filter, p Page) (list List, settled bool, err error) {
	total, keys, numbers, err := r.taggedKeys(ctx, f, p)
	if err != nil {
		return List{}, false, err
	}
	records, err := r.liveOf(ctx, keys)
	if err != nil {
		return List{}, false, err
	}
	scopeNumbers(records, numbers)
	return listOf(records, total, p), len(records) == int(totals{total: total}.due(p)), nil
}

func (r *Reader) taggedKeys(ctx context.Context, f Filter, p Page) (total uint64, keys []deployedKey, numbers map[errata.Position]sums, err error) {
	q, err := taggedStatement(f, p)
	if err != nil {
		return 0, nil, nil, err
	}
	numbers = map[errata.Position]sums{}
	err = r.each(ctx, q, func(row driver.Rows) error {
		var (
			book      int8
			signature string
			id        uint64
			of        sums
		)
		if err := row.Scan(&book, &signature, &id, &of.count, &of.first, &of.last, &total); err != nil {
			return fmt.Errorf("read a record of the page: %w", err)
		}
		key := errata.RecordKey{Book: errata.Book(book), Signature: errata.Signature([]byte(signature))}
		keys = append(keys, deployedKey{key, errata.Position(id)})
		numbers[errata.Position(id)] = of
		return nil
	})
	if err != nil {
		return 0, nil, nil, fmt.Errorf("find the page: %w", err)
	}
	if len(keys) > 0 || p.offset() == 0 {
		return total, keys, numbers, nil
	}
	// Behind the last page no row says how many there are.
	total, err = r.scopedTotal(ctx, f)
	return total, nil, nil, err
}
