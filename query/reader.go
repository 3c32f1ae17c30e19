package query

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

// maxAttempts is how often a page is read when records change meanwhile. When
// every batch counts all records of the page and merges follow at once, one page
// in seven is short. The answer of the last attempt counts as it is.
const maxAttempts = 5

// Reader reads records. It is safe for concurrent use.
type Reader struct {
	conn driver.Conn
	// patience is how long an answer may take: [answerTimeout], another time in tests.
	patience time.Duration
	// seconds is how long one query may take: maxSeconds, longer in tests.
	seconds  int
	trust    Trust // nil: all files are whole
	ready    func() error
	now      func() time.Time
	payloads Payloads
	loud     *loudUsers
}

// Config is what a [Reader] needs. ClickHouse is required.
type Config struct {
	// ClickHouse has selected the database. The caller closes it.
	ClickHouse driver.Conn
	// Trust is asked before each query, and learns of damage that a query finds.
	// nil means that all files are whole.
	Trust Trust
	// Ready says why no records may be shown now, as an error for the caller; nil: they
	// always may.
	Ready func() error
	// Payloads has the contexts of occurrences; nil: that of the first sighting only.
	Payloads Payloads
	// Now is the clock for relative dates and ranges, and for how old a count of users may be;
	// nil is the system's clock.
	Now func() time.Time
}

// New makes a reader.
func New(cfg Config) *Reader {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Ready == nil {
		cfg.Ready = func() error { return nil }
	}
	return &Reader{conn: cfg.ClickHouse, trust: cfg.Trust, ready: cfg.Ready, payloads: cfg.Payloads, now: cfg.Now, patience: answerTimeout, seconds: maxSeconds, loud: newLoudUsers()}
}

// List is one page of records and its place in the result.
type List struct {
	Records []errata.Record
	// Total counts the records that match on all pages.
	Total uint64
	// Page and Limit are the values that were used.
	Page, Limit int
	// NextPage is 0 on the last page.
	NextPage int
	// Scoped says that the numbers of the records are those of the occurrences in the
	// environments and releases of the filter.
	Scoped bool
}

// List finds records of the projects by the query parameters of the list endpoint.
// Errors: those of [Parse] and [Reader.Find].
func (r *Reader) List(ctx context.Context, values url.Values, among Projects) (List, error) {
	filter, page, err := Parse(values, r.now())
	if err != nil {
		return List{}, err
	}
	filter.Projects = among
	return r.Find(ctx, filter, page)
}

// Find finds the records of a page. It sees every change that was visible before
// the call. A record that changes during the call has its old or its new state.
// Errors: store_unavailable.
func (r *Reader) Find(ctx context.Context, f Filter, p Page) (List, error) {
	ctx, stop := bounded(ctx, r.patience)
	defer stop()
	p = p.normal()
	if f.Projects.None() {
		return List{Records: []errata.Record{}, Page: p.Number, Limit: p.Limit, Scoped: f.Scoped()}, nil
	}
	for attempt := 1; ; attempt++ {
		var (
			list    List
			settled bool
		)
		if err := r.trusting(func() (err error) {
			list, settled, err = r.attempt(ctx, f, p)
			return err
		}); err != nil {
			return List{}, r.explain(ctx, "list records", err)
		}
		if settled || attempt == maxAttempts {
			return list, nil
		}
	}
}

// attempt reads the page once. settled is false if records of the page moved away
// between two queries.
func (r *Reader) attempt(ctx context.Context, f Filter, p Page) (list List, settled bool, err error) {
	if !f.Scoped() {
		return r.unscoped(ctx, f, p)
	}
	list, settled, err = r.inScope(ctx, f, p)
	list.Scoped = true
	return list, settled, err
}

func (r *Reader) unscoped(ctx context.Context, f Filter, p Page) (list List, settled bool, err error) {
	at, err := r.find(ctx, f, p)
	if err != nil {
		return List{}, false, err
	}
	records, settled := at.records, at.full
	if records != nil {
		return listOf(records, at.total, p), settled, r.countUsers(ctx, records)
	}
	var counted users
	err = atOnce(
		func() (err error) { records, err = r.rows(ctx, at.keys); return err },
		func() (err error) { counted, err = r.usersLately(ctx, signaturesIn(at.keys)); return err },
	)
	if err != nil {
		return List{}, false, fmt.Errorf("read %d records of the page: %w", len(at.keys), err)
	}
	return listOf(records, at.total, p), at.full && len(records) == len(at.keys), r.fill(ctx, records, counted)
}

func listOf(records []errata.Record, total uint64, p Page) List {
	list := List{Records: records, Total: total, Page: p.Number, Limit: p.Limit}
	if p.offset()+uint64(p.Limit) < total {
		list.NextPage = p.Number + 1
	}
	return list
}

// found is the result of the narrow step.
type found struct {
	totals
	// keys name the rows of the page. A statement that reads the rows at once
	// fills in records instead; records is nil if they have not been read.
	keys    []key
	records []errata.Record
	// tried is the window that was searched, 0 for none.
	tried uint64
	// full says that the page has all the rows that are due.
	full bool
}

// find reads the total and the page, or its keys.
func (r *Reader) find(ctx context.Context, f Filter, p Page) (found, error) {
	at, err := r.look(ctx, f, p)
	if err != nil {
		return found{}, err
	}
	if uint64(len(at.records)+len(at.keys)) >= at.due(p) {
		at.full = true
		return at, nil
	}
	return r.widen(ctx, f, p, at.totals, at.tried)
}

// look reads the total, and tries the fastest way to the page, if there is one.
// It may find fewer records than are due, or none.
func (r *Reader) look(ctx context.Context, f Filter, p Page) (at found, err error) {
	first := p.slice()
	switch {
	case inOneScan(f, p):
		return r.oneScan(ctx, f, first)
	case mayBeInOrder(f, p) && first.window <= shallowWindow:
		s := first
		if !f.dense() {
			s.window = narrowWindow(s.offset + s.limit)
		}
		if f.Class != "" {
			return r.inTurn(ctx, f, p, s)
		}
		at, err = r.side(ctx, f, p, s)
	default:
		at.totals, err = r.total(ctx, f)
	}
	return at, err
}

// inTurn reads the total, and then the keys of the page from by_time if enough records match
// for it. The class that somebody looks for is often that of one record, or of none.
func (r *Reader) inTurn(ctx context.Context, f Filter, p Page, s slice) (found, error) {
	t, err := r.total(ctx, f)
	if err != nil || !inOrder(f, p, t.raw, s.window) {
		return found{totals: t}, err
	}
	keys, err := r.page(ctx, f, s, true)
	return found{totals: t, keys: keys, tried: s.window}, err
}

// side reads the total and, at the same time, the keys of the page from by_time.
// When the total says that another way is better, side waits for the keys only
// for [pagePatience], and not at all when the page has none.
func (r *Reader) side(ctx context.Context, f Filter, p Page, s slice) (found, error) {
	paging, stop := context.WithCancel(ctx)
	defer stop()
	type answer struct {
		keys []key
		err  error
	}
	page := make(chan answer, 1) // the sender never waits
	go func() {
		keys, err := r.page(paging, f, s, true)
		page <- answer{keys, err}
	}()
	t, err := r.total(ctx, f)
	if err != nil {
		stop()
		<-page
		return found{}, err
	}
	var givenUp <-chan time.Time // nil: never
	switch {
	case t.due(p) == 0:
		givenUp = time.After(0)
	case !inOrder(f, p, t.raw, s.window):
		givenUp = time.After(pagePatience)
	}
	select {
	case a := <-page:
		return found{totals: t, keys: a.keys, tried: s.window}, a.err
	case <-givenUp:
		stop()
		<-page
		return found{totals: t}, nil
	}
}

func (r *Reader) total(ctx context.Context, f Filter) (totals, error) {
	q, err := totalStatement(f)
	if err != nil {
		return totals{}, err
	}
	var (
		total int64
		raw   uint64
	)
	if err := r.queryRow(ctx, q).Scan(&total, &raw); err != nil {
		return totals{}, fmt.Errorf("count the records: %w", err)
	}
	return totalsOf(total, raw), nil
}

// widen searches the keys of the page in a window that grows until it holds all
// of them. A page in the second half of the result is read from the other end.
func (r *Reader) widen(ctx context.Context, f Filter, p Page, t totals, tried uint64) (found, error) {
	s := slice{order: p.Order, direction: p.Direction, offset: p.offset(), limit: t.due(p)}
	backwards := s.offset > t.total/2
	if backwards {
		s.direction = s.direction.reversed()
		s.offset = t.total - s.offset - s.limit
	}
	// So many rows hold the page even if all cancelled rows come before it.
	enough := s.offset + s.limit + t.cancelled()
	s.window = min(max(window(s.offset+s.limit), 4*tried), enough)
	for {
		keys, err := r.page(ctx, f, s, inOrder(f, p, t.raw, s.window))
		if err != nil {
			return found{}, err
		}
		full := uint64(len(keys)) >= s.limit
		if full || s.window >= enough {
			if backwards {
				slices.Reverse(keys)
			}
			return found{totals: t, keys: keys, full: full}, nil
		}
		s.window = min(4*s.window, enough)
	}
}

// page reads those keys of the slice that are in its window.
func (r *Reader) page(ctx context.Context, f Filter, s slice, byTime bool) (keys []key, err error) {
	q, err := pageStatement(f, s, byTime)
	if err != nil {
		return nil, err
	}
	err = r.each(ctx, q, func(row driver.Rows) error {
		var (
			book      int8
			signature string
			version   uint64
		)
		if err := row.Scan(&book, &signature, &version); err != nil {
			return fmt.Errorf("read a key of the page: %w", err)
		}
		keys = append(keys, keyOf(book, signature, version))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find the page: %w", err)
	}
	return keys, nil
}

// each calls read for every row that the statement returns, until an error.
func (r *Reader) each(ctx context.Context, q statement, read func(row driver.Rows) error) error {
	rows, err := r.query(ctx, q)
	if err != nil {
		return err
	}
	defer rows.Close()
	for err == nil && rows.Next() {
		err = read(rows)
	}
	return cmp.Or(err, rows.Err())
}

func (r *Reader) query(ctx context.Context, q statement) (driver.Rows, error) {
	return r.conn.Query(r.context(ctx, q), q.text, q.args...)
}

func (r *Reader) queryRow(ctx context.Context, q statement) driver.Row {
	return r.conn.QueryRow(r.context(ctx, q), q.text, q.args...)
}
