package query

import (
	"context"
	"fmt"
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
func (f Filter) Scoped() bool { return len(f.Environments) > 0 || len(f.Releases) > 0 }

// A filter that is scoped has three parts: what a row of deployments says by itself,
// what only the record says, and what the sum of the rows says.

func (f Filter) ofDeployments() []fragment {
	of := Filter{Books: f.Books, Projects: f.Projects, Signature: f.Signature}
	return append(append(of.fragments(), f.Environments.fragment("environment")...), f.Releases.fragment("release")...)
}

func (f Filter) ofRecord() Filter {
	f.Books, f.Projects, f.Signature, f.Environments, f.Releases = nil, Projects{}, nil, nil, nil
	f.MinOccurrence, f.From, f.To = 0, time.Time{}, time.Time{}
	return f
}

func (f Filter) ofSums() []fragment {
	sums := Filter{MinOccurrence: f.MinOccurrence, From: f.From, To: f.To}.fragments()
	for i := range sums {
		sums[i].name = "sum_" + sums[i].name
	}
	return sums
}

// scopedOrders are the orders whose values are in deployments.
var scopedOrders = map[Order]string{
	OrderLastSeen: "max(last_seen)", OrderFirstSeen: "min(first_seen)", OrderCount: "sum(count)", OrderID: "id", OrderType: "any(book)",
}

// scopedStatement fills in a file of sql/ that reads the occurrences of the filter.
func scopedStatement(file string, f Filter, data statementData, settings clickhouse.Settings, args ...any) (statement, error) {
	for _, part := range []struct {
		into      *[]string
		fragments []fragment
	}{{&data.Records, hinted(f.ofRecord().fragments())}, {&data.Sums, f.ofSums()}} {
		texts, more, err := renderAll(part.fragments)
		if err != nil {
			return statement{}, err
		}
		*part.into, args = texts, append(args, more...)
	}
	return build(file, data, f.ofDeployments(), settings, args...)
}

// scopedSettings are for reading deployments as a whole.
func scopedSettings(f Filter) clickhouse.Settings {
	settings := clickhouse.Settings{"max_threads": 2, "optimize_use_projections": 0}
	if f.ofRecord().wide() {
		settings = scanSettings(f.ofRecord())
	}
	return settings
}

func scopedTotalStatement(f Filter) (statement, error) {
	return scopedStatement("scoped_total.sql", f, statementData{}, scopedSettings(f))
}

func scopedPageStatement(f Filter, p Page) (statement, error) {
	word := strings.ToUpper(string(p.Direction))
	data := statementData{Order: scopedOrders[p.Order] + " " + word + ", id " + word}
	return scopedStatement("scoped_page.sql", f, data, scopedSettings(f), bind("limit", uint64(p.Limit)), bind("offset", p.offset()))
}

// scopedWindowStatement finds the records of the last occurrences in by_time.
func scopedWindowStatement(f Filter, window uint64) (statement, error) {
	fragments := renamed(f.ofDeployments(), "books", "books_unindexed")
	return build("scoped_window.sql", statementData{}, fragments, inOrderSettings(window), bind("window", window))
}

// deployedKey names a record in deployments.
type deployedKey struct {
	errata.RecordKey
	id errata.Position
}

// inScope lists a page of a scoped filter.
func (r *Reader) inScope(ctx context.Context, f Filter, p Page) (list List, settled bool, err error) {
	if _, sums := scopedOrders[p.Order]; !sums {
		return r.scopedByRecord(ctx, f, p)
	}
	total, keys, err := r.scopedKeys(ctx, f, p)
	if err != nil {
		return List{}, false, err
	}
	found := make([]errata.RecordKey, len(keys))
	for i, k := range keys {
		found[i] = k.RecordKey
	}
	live, err := r.live(ctx, found)
	if err != nil {
		return List{}, false, fmt.Errorf("read %d records of the page: %w", len(keys), err)
	}
	records := make([]errata.Record, 0, len(keys))
	for _, k := range keys {
		if record, there := live[k.RecordKey]; there && record.ID == k.id {
			records = append(records, record)
		}
	}
	settled = len(records) == int(totals{total: total}.due(p))
	records, err = r.scopeNumbers(ctx, f, records)
	return listOf(records, total, p), settled, err
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
	ids, err := build("scoped_ids.sql", statementData{Sums: sums}, f.ofDeployments(), nil, args...)
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
	list.Records, err = r.scopeNumbers(ctx, f, list.Records)
	return list, settled, err
}

// scopedKeys are the total and the keys of the page.
func (r *Reader) scopedKeys(ctx context.Context, f Filter, p Page) (total uint64, keys []deployedKey, err error) {
	q, err := scopedTotalStatement(f)
	if err != nil {
		return 0, nil, err
	}
	type answer struct {
		keys []deployedKey
		full bool
		err  error
	}
	window := make(chan answer, 1) // the sender never waits
	go func() {
		var a answer
		a.keys, a.full, a.err = r.scopedLatest(ctx, f, p)
		window <- a
	}()
	err = r.queryRow(ctx, q).Scan(&total)
	a := <-window // also after an error: a cancelled query costs the pool a connection
	if err != nil {
		return 0, nil, fmt.Errorf("count the records: %w", err)
	}
	if a.err != nil || a.full || p.offset() >= total {
		return total, a.keys, a.err
	}
	if q, err = scopedPageStatement(f, p); err != nil {
		return 0, nil, err
	}
	keys, _, err = r.deployedKeys(ctx, q)
	return total, keys, err
}

// maxScopedWindow is the largest window that is searched for the last occurrences.
const maxScopedWindow = 4 * shallowWindow

// scopedLatest finds a page of the records that occurred last, without reading the
// others: of the rows of a record, the first that by_time has is its last occurrence.
// full is false when that is not possible, or takes too long.
func (r *Reader) scopedLatest(ctx context.Context, f Filter, p Page) (keys []deployedKey, full bool, err error) {
	upTo := p.offset() + uint64(p.Limit)
	alone := len(f.ofRecord().fragments()) == 0 && len(f.ofSums()) == 0
	if !alone || p.Order != OrderLastSeen || p.Direction != Descending || f.Signature != nil {
		return nil, false, nil
	}
	for rows := window(upTo); rows <= maxScopedWindow; rows *= 4 {
		q, err := scopedWindowStatement(f, rows)
		if err != nil {
			return nil, false, err
		}
		keys, read, err := r.deployedKeys(ctx, q)
		if err != nil {
			return nil, false, err
		}
		if found := uint64(len(keys)); found >= upTo || read < rows {
			return keys[min(p.offset(), found):min(upTo, found)], true, nil
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

// scopeNumbers are the records with the numbers of the occurrences that count.
func (r *Reader) scopeNumbers(ctx context.Context, f Filter, records []errata.Record) ([]errata.Record, error) {
	if len(records) == 0 {
		return records, nil
	}
	keys, ids, at := make([]errata.RecordKey, len(records)), make([]uint64, len(records)), map[uint64]int{}
	for i, record := range records {
		keys[i], ids[i], at[uint64(record.ID)] = record.Key(), uint64(record.ID), i
	}
	of := Filter{Environments: f.Environments, Releases: f.Releases}
	q, err := scopedStatement("scoped_numbers.sql", of, statementData{}, keySettings(), bind("signatures", signaturesOf(keys)), bind("ids", ids))
	if err != nil {
		return nil, err
	}
	err = r.each(ctx, q, func(row driver.Rows) error {
		var (
			id, count   uint64
			first, last time.Time
		)
		if err := row.Scan(&id, &count, &first, &last); err != nil {
			return fmt.Errorf("read the occurrences of a record: %w", err)
		}
		record := &records[at[id]]
		record.Count, record.FirstSeen, record.LastSeen = count, first, last
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the occurrences: %w", err)
	}
	return records, nil
}
