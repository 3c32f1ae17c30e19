package query

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	errata "github.com/errata-log/errata"
)

// maxAttempts is how often a page is looked for when records move while it is
// read. With all records of the page counted in every batch and merges on their
// heels, one in seven was short; the last attempt's answer counts as it is.
const maxAttempts = 5

// Reader reads records. It is safe for concurrent use.
type Reader struct {
	conn driver.Conn
	// patience is how long an answer may take: [answerTimeout], less in tests.
	patience time.Duration
	trust    Trust // nil: everything
	now      func() time.Time
}

// Config is what a [Reader] needs. ClickHouse is required.
type Config struct {
	// ClickHouse has selected the database. It stays the caller's.
	ClickHouse driver.Conn
	// Trust is asked before each query, and told when a query meets damage; nil:
	// nothing is damaged.
	Trust Trust
	// Now is the clock that relative dates and ranges count from, nil for the
	// system's.
	Now func() time.Time
}

// New makes a reader.
func New(cfg Config) *Reader {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Reader{conn: cfg.ClickHouse, trust: cfg.Trust, now: cfg.Now, patience: answerTimeout}
}

// List is one page of records and where it stands.
type List struct {
	Records []errata.Record
	// Total counts the records that match on all pages.
	Total uint64
	// Page and Limit are the values that were used.
	Page, Limit int
	// NextPage is 0 on the last page.
	NextPage int
}

// List finds records by the query parameters of the list endpoint. Errors: those
// of [Parse] and [Reader.Find].
func (r *Reader) List(ctx context.Context, values url.Values) (List, error) {
	filter, page, err := Parse(values, r.now())
	if err != nil {
		return List{}, err
	}
	return r.Find(ctx, filter, page)
}

// Find finds the records of a page. It sees every change that was visible when
// it was called; a record that changes meanwhile is shown as it was or as it
// is. Errors: store_unavailable.
func (r *Reader) Find(ctx context.Context, f Filter, p Page) (List, error) {
	ctx, stop := bounded(ctx, r.patience)
	defer stop()
	p = p.normal()
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

// attempt looks for the page once. settled is false if records that belong on
// it moved away between two queries.
func (r *Reader) attempt(ctx context.Context, f Filter, p Page) (list List, settled bool, err error) {
	at, err := r.find(ctx, f, p)
	if err != nil {
		return List{}, false, err
	}
	records, settled := at.records, at.full
	if records == nil {
		if records, err = r.rows(ctx, at.keys); err != nil {
			return List{}, false, fmt.Errorf("read %d records of the page: %w", len(at.keys), err)
		}
		settled = at.full && len(records) == len(at.keys)
	}
	list = List{Records: records, Total: at.total, Page: p.Number, Limit: p.Limit}
	if p.offset()+uint64(p.Limit) < at.total {
		list.NextPage = p.Number + 1
	}
	return list, settled, nil
}

// found is the result of the narrow step.
type found struct {
	totals
	// keys are those of the page's rows; records are the rows themselves, in
	// place of them, nil if they have not been read.
	keys    []key
	records []errata.Record
	// tried is the window that was looked through, 0 for none.
	tried uint64
	// full says that the page has all the rows it is due.
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

// look reads the total and, by the way that is likely to be the shortest, what
// it finds of the page.
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
		at, err = r.side(ctx, f, p, s)
	default:
		at.totals, err = r.total(ctx, f)
	}
	return at, err
}

// side reads total and keys side by side. It goes to the keys by by_time, and
// gives that up when the total says that it is not the way, unless it is
// nearly there.
func (r *Reader) side(ctx context.Context, f Filter, p Page, s slice) (found, error) {
	paging, stop := context.WithCancel(ctx)
	defer stop()
	type answer struct {
		keys []key
		err  error
	}
	page := make(chan answer, 1) // one answer, also if nobody waits any more
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
	var givenUp <-chan time.Time // nil for never
	if !inOrder(f, p, t.raw, s.window) {
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

// widen looks for the keys of the page in a window that grows until they are
// all in it. Behind the middle of the result it comes from the other end.
func (r *Reader) widen(ctx context.Context, f Filter, p Page, t totals, tried uint64) (found, error) {
	s := slice{order: p.Order, direction: p.Direction, offset: p.offset(), limit: t.due(p)}
	backwards := s.offset > t.total/2
	if backwards {
		s.direction = s.direction.reversed()
		s.offset = t.total - s.offset - s.limit
	}
	// So many rows hold the page even if all that is cancelled comes before it.
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

// page reads the keys of the slice, as far as its window holds them.
func (r *Reader) page(ctx context.Context, f Filter, s slice, byTime bool) (keys []key, err error) {
	q, err := pageStatement(f, s, byTime)
	if err != nil {
		return nil, err
	}
	rows, err := r.query(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("find the page: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var (
			book      int8
			signature string
			version   uint64
		)
		if err := rows.Scan(&book, &signature, &version); err != nil {
			return nil, fmt.Errorf("read a key of the page: %w", err)
		}
		keys = append(keys, keyOf(book, signature, version))
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("find the page: %w", err)
	}
	return keys, nil
}

func (r *Reader) query(ctx context.Context, q statement) (driver.Rows, error) {
	return r.conn.Query(r.context(ctx, q), q.text, q.args...)
}

func (r *Reader) queryRow(ctx context.Context, q statement) driver.Row {
	return r.conn.QueryRow(r.context(ctx, q), q.text, q.args...)
}
