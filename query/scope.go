package query

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

// Names are names of environments or releases; none means all. A * in a name stands
// for any text, the empty name for occurrences that named none.
type Names []string

// Unknown is how a caller writes the empty name.
const Unknown = "(unknown)"

// fragment is the condition of the column, if there is one. Without wildcards it is a
// plain comparison.
func (n Names) fragment(column string) []fragment {
	if len(n) == 0 {
		return nil
	}
	if !slices.ContainsFunc(n, func(name string) bool { return strings.Contains(name, "*") }) {
		return []fragment{{name: column, args: []any{bind(column, []string(n))}}}
	}
	patterns := make([]string, len(n))
	for i, name := range n {
		patterns[i] = strings.ReplaceAll(regexp.QuoteMeta(name), `\*`, ".*")
	}
	return []fragment{{name: column + "_like", args: []any{bind(column, "^(?s:"+strings.Join(patterns, "|")+")$")}}}
}

// String is how a caller writes the names.
func (n Names) String() string {
	written := slices.Clone(n)
	for i, name := range written {
		if name == "" {
			written[i] = Unknown
		}
	}
	return strings.Join(written, ",")
}

// Scoped says that only the occurrences in some environments or releases count: a
// record's count, first_seen and last_seen are theirs.
func (f Filter) Scoped() bool {
	return len(f.Environments) > 0 || len(f.Releases) > 0 || len(f.Tags) > 0
}

// A filter that is scoped has three parts: what a row of its source says by itself,
// what only the record says, and what the sum of the rows says.

func (f Filter) ofOccurrences() []fragment {
	of := Filter{Books: f.Books, Projects: f.Projects, Signature: f.Signature}
	all := append(append(of.fragments(), f.Environments.fragment("environment")...), f.Releases.fragment("release")...)
	if all = append(all, tagFragments(f.Tags)...); !f.since.IsZero() {
		all = append(all, fragment{name: "time_from", args: []any{bind("from", storable(f.since))}})
	}
	return all
}

func (f Filter) ofRecord() Filter {
	f.Books, f.Projects, f.Signature, f.Environments, f.Releases, f.Tags = nil, Projects{}, nil, nil, nil, nil
	f.MinOccurrence, f.From, f.To = 0, time.Time{}, time.Time{}
	return f
}

func (f Filter) ofSums() []fragment {
	sums := Filter{MinOccurrence: f.MinOccurrence, From: f.From, To: f.To}.fragments()
	for i := range sums {
		sums[i].name, sums[i].number = "sum_"+sums[i].name, zeroOrOne(len(f.Tags) > 0)
	}
	return sums
}

// scopedOrders are the orders whose values the source has.
func scopedOrders(from source) map[Order]string {
	return map[Order]string{OrderLastSeen: from.Last, OrderFirstSeen: from.First, OrderCount: from.Count, OrderID: "id", OrderType: "any(book)"}
}

func scopedOrder(f Filter, p Page) string {
	word := strings.ToUpper(string(p.Direction))
	return scopedOrders(f.source())[p.Order] + " " + word + ", id " + word
}

// scopedStatement fills in a file of sql/ that reads the occurrences of the filter.
func scopedStatement(file string, f Filter, data statementData, settings clickhouse.Settings, args ...any) (statement, error) {
	records, more, err := f.renderRecords()
	if err != nil {
		return statement{}, err
	}
	sums, ofSums, err := renderAll(f.ofSums())
	if err != nil {
		return statement{}, err
	}
	args = append(append(args, more...), ofSums...)
	data.Records, data.Unmatched, data.Sums, data.From = records, f.unmatched, sums, f.source()
	return build(file, data, f.ofOccurrences(), settings, args...)
}

// scopedSettings are for reading deployments as a whole.
func scopedSettings(f Filter) clickhouse.Settings {
	settings := clickhouse.Settings{"max_threads": 2, "optimize_use_projections": 0}
	if f.ofRecord().wide() {
		settings = scanSettings(f.ofRecord())
	}
	maps.Copy(settings, groupSettings())
	return settings
}

func scopedTotalStatement(f Filter, grouped bool) (statement, error) {
	return scopedStatement("scoped_total.sql", f, statementData{Grouped: grouped}, scopedSettings(f))
}

func scopedPageStatement(f Filter, p Page) (statement, error) {
	data := statementData{Order: scopedOrder(f, p)}
	return scopedStatement("scoped_page.sql", f, data, scopedSettings(f), bind("limit", uint64(p.Limit)), bind("offset", p.offset()))
}

// scopedWindowStatement finds the records of the last occurrences: in by_time, or with
// tags those since the last times of so many rows of records.
func scopedWindowStatement(f Filter, window uint64) (statement, error) {
	if len(f.Tags) > 0 {
		return build("tagged_window.sql", statementData{From: f.source()}, f.ofOccurrences(), taggedWindowSettings(), bind("window", window))
	}
	fragments := renamed(f.ofOccurrences(), "books", "books_unindexed")
	return build("scoped_window.sql", statementData{From: f.source()}, fragments, inOrderSettings(window), bind("window", window))
}

// deployedKey names a record in deployments.
type deployedKey struct {
	errata.RecordKey
	id errata.Position
}

// inScope lists a page of a scoped filter.
func (r *Reader) inScope(ctx context.Context, f Filter, p Page) (list List, settled bool, err error) {
	if _, sums := scopedOrders(f.source())[p.Order]; !sums {
		return r.scopedByRecord(ctx, f, p)
	}
	if f, err = r.lookup(ctx, f.sinceOnly()); err != nil {
		return List{}, false, err
	}
	if len(f.Tags) > 0 && !f.latest(p) {
		if list, settled, err = r.inTags(ctx, f, p); !needsMemory(err) {
			return list, settled, err
		}
	}
	total, keys, err := r.scopedKeys(ctx, f, p)
	if err != nil {
		return List{}, false, err
	}
	var (
		records []errata.Record
		numbers map[errata.Position]sums
	)
	if err := atOnce(
		func() (err error) { records, err = r.liveOf(ctx, keys); return err },
		func() (err error) { numbers, err = r.numbersOf(ctx, f, keys); return err },
	); err != nil {
		return List{}, false, err
	}
	scopeNumbers(records, numbers)
	return listOf(records, total, p), len(records) == int(totals{total: total}.due(p)), nil
}

// latest says that a page is of the records whose occurrences were last, and that nothing
// but single occurrences says which those are.
func (f Filter) latest(p Page) bool {
	alone := len(f.ofRecord().fragments()) == 0 && len(f.ofSums()) == 0 && f.Signature == nil
	return alone && p.Order == OrderLastSeen && p.Direction == Descending
}

// liveOf reads the records of the keys with their users, in their order. A record that
// is gone is missing.
func (r *Reader) liveOf(ctx context.Context, keys []deployedKey) ([]errata.Record, error) {
	found, signatures := make([]errata.RecordKey, len(keys)), make([]errata.Signature, len(keys))
	for i, k := range keys {
		found[i], signatures[i] = k.RecordKey, k.Signature
	}
	var (
		live    map[errata.RecordKey]errata.Record
		counted users
	)
	err := atOnce(
		func() (err error) { live, err = r.live(ctx, found); return err },
		func() (err error) { counted, err = r.usersLately(ctx, signatures); return err },
	)
	if err != nil {
		return nil, fmt.Errorf("read %d records of the page: %w", len(keys), err)
	}
	records := make([]errata.Record, 0, len(keys))
	for _, k := range keys {
		if record, there := live[k.RecordKey]; there && record.ID == k.id {
			records = append(records, record)
		}
	}
	return records, r.fill(ctx, records, counted)
}

// amongOccurrences is the filter with its occurrences as one more condition on the
// records.
func (f Filter) amongOccurrences() (Filter, error) {
	sums, args, err := renderAll(f.ofSums())
	if err != nil {
		return Filter{}, err
	}
	of := f.ofRecord()
	of.Books, of.Signature = f.Books, f.Signature
	f.Books, f.Signature = nil, nil
	ids, err := build("scoped_ids.sql", statementData{Sums: sums, From: f.source()}, f.ofOccurrences(), nil, args...)
	if err != nil {
		return Filter{}, err
	}
	of.among = &fragment{text: strings.TrimSpace(ids.text), args: ids.args}
	return of, nil
}

// scopedByRecord lists a page in an order that only the records know: the occurrences
// are one more filter on them.
func (r *Reader) scopedByRecord(ctx context.Context, f Filter, p Page) (list List, settled bool, err error) {
	of, err := f.amongOccurrences()
	if err != nil {
		return List{}, false, err
	}
	list, settled, err = r.unscoped(ctx, of, p)
	if err != nil {
		return List{}, false, err
	}
	keys := make([]deployedKey, len(list.Records))
	for i, record := range list.Records {
		keys[i] = deployedKey{record.Key(), record.ID}
	}
	numbers, err := r.numbersOf(ctx, f, keys)
	scopeNumbers(list.Records, numbers)
	return list, settled, err
}

// scopedKeys are the total and the keys of the page.
func (r *Reader) scopedKeys(ctx context.Context, f Filter, p Page) (total uint64, keys []deployedKey, err error) {
	var full bool
	err = atOnce(
		func() (err error) { total, err = r.scopedTotal(ctx, f); return err },
		func() (err error) { keys, full, err = r.scopedLatest(ctx, f, p); return err },
	)
	if err != nil || full || p.offset() >= total {
		return total, keys, err
	}
	q, err := scopedPageStatement(f, p)
	if err != nil {
		return 0, nil, err
	}
	keys, _, err = r.deployedKeys(ctx, q)
	return total, keys, err
}

// scopedTotal counts the records: in the way that takes less memory, when the faster one needs
// more than it may take.
func (r *Reader) scopedTotal(ctx context.Context, f Filter) (total uint64, err error) {
	if total, err = r.countScoped(ctx, f, false); needsMemory(err) {
		total, err = r.countScoped(ctx, f, true)
	}
	if err != nil {
		return 0, fmt.Errorf("count the records: %w", err)
	}
	return total, nil
}

func (r *Reader) countScoped(ctx context.Context, f Filter, grouped bool) (total uint64, err error) {
	q, err := scopedTotalStatement(f, grouped)
	if err != nil {
		return 0, err
	}
	err = r.queryRow(ctx, q).Scan(&total)
	return total, err
}

// maxScopedWindow is the largest window that is searched for the last occurrences, and
// widening how much larger the next one is.
const maxScopedWindow, widening = 4 * shallowWindow, 4

// scopedLatest finds a page of the records that occurred last, without reading the
// others: of the rows of a record, the first that by_time has is its last occurrence, and
// of single occurrences only those of a short time are read.
// full is false when that is not possible, or takes too long.
func (r *Reader) scopedLatest(ctx context.Context, f Filter, p Page) (keys []deployedKey, full bool, err error) {
	upTo := p.offset() + uint64(p.Limit)
	if !f.latest(p) {
		return nil, false, nil
	}
	for rows := window(upTo); rows <= maxScopedWindow; rows *= widening {
		q, err := scopedWindowStatement(f, rows)
		if err != nil {
			return nil, false, err
		}
		keys, read, err := r.deployedKeys(ctx, q)
		if err != nil {
			return nil, false, err
		}
		found := uint64(len(keys))
		if found >= upTo || read < rows && len(f.Tags) == 0 {
			return keys[min(p.offset(), found):min(upTo, found)], true, nil
		}
		if len(f.Tags) > 0 && found*widening < upTo {
			break // few have the tags, and all of those are read faster
		}
	}
	return nil, false, nil
}

// deployedKeys reads keys; read says how many rows of deployments had them, where the
// statement counts that.
func (r *Reader) deployedKeys(ctx context.Context, q statement) (keys []deployedKey, read uint64, err error) {
	err = r.each(ctx, q, func(row driver.Rows) error {
		var (
			book      int8
			signature string
			id, of    uint64
		)
		if err := row.Scan(&book, &signature, &id, &of); err != nil {
			return fmt.Errorf("read a key of the page: %w", err)
		}
		read += of
		keys = append(keys, deployedKey{errata.RecordKey{Book: errata.Book(book), Signature: errata.Signature([]byte(signature))}, errata.Position(id)})
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("find the page: %w", err)
	}
	return keys, read, nil
}

// sums are the numbers of the occurrences of a record that match.
type sums struct {
	count       uint64
	first, last time.Time
}

// scopeNumbers sets the count and the first and last sighting of each record to those of
// the occurrences that match the filter.
func scopeNumbers(records []errata.Record, numbers map[errata.Position]sums) {
	for i := range records {
		if of, there := numbers[records[i].ID]; there {
			records[i].Count, records[i].FirstSeen, records[i].LastSeen = of.count, of.first, of.last
		}
	}
}

// numbersOf reads those numbers, by the id of the record.
func (r *Reader) numbersOf(ctx context.Context, f Filter, keys []deployedKey) (map[errata.Position]sums, error) {
	if len(keys) == 0 {
		return nil, nil //nolint:nilnil // of no record there are none
	}
	signatures, ids := make([]errata.RecordKey, len(keys)), make([]uint64, len(keys))
	for i, k := range keys {
		signatures[i], ids[i] = k.RecordKey, uint64(k.id)
	}
	of := Filter{Environments: f.Environments, Releases: f.Releases, Tags: f.Tags}
	q, err := scopedStatement("scoped_numbers.sql", of, statementData{}, keySettings(), bind("signatures", signaturesOf(signatures)), bind("ids", ids))
	if err != nil {
		return nil, err
	}
	numbers := make(map[errata.Position]sums, len(keys))
	err = r.each(ctx, q, func(row driver.Rows) error {
		var (
			id uint64
			of sums
		)
		if err := row.Scan(&id, &of.count, &of.first, &of.last); err != nil {
			return fmt.Errorf("read the occurrences of a record: %w", err)
		}
		numbers[errata.Position(id)] = of
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the occurrences: %w", err)
	}
	return numbers, nil
}
