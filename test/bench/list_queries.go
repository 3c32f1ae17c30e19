package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
)

// limits are the milliseconds that the p99 of a query may take at 100 k, 1 M
// and 10 M records.
type limits [3]float64

var (
	limitDefault = limits{15, 20, 30}
	limitDetail  = limits{10, 12, 20}
	limitNarrow  = limits{20, 35, 70}  // types, levels, class, min_occurrence, date_range, status
	limitWide    = limits{25, 60, 250} // user_id, ip, file
	limitText    = limits{40, 150, 600}
	limitDeep    = limits{30, 40, 60}
	limitProject = limits{35, 60, 120}
	limitScoped  = limits{50, 100, 600}   // environment, release: the total reads all of their occurrences
	limitCounted = limits{100, 400, 4000} // with sums of each record's occurrences
)

// column is the column of [limits] for n records: that of the next larger size,
// or the last one.
func column(n int) int {
	switch {
	case n <= 100_000:
		return 0
	case n <= 1_000_000:
		return 1
	default:
		return 2
	}
}

// sampleCount is the number of records whose values a query uses in turn: with
// one value, every run but the first would find its data cached.
const sampleCount = 50

// listQuery is one kind of query.
type listQuery struct {
	name   string
	limits limits
	// run runs it for the i-th time and fails when nothing is found.
	run func(ctx context.Context, i int) error
}

// listQueries are the kinds of queries that must be fast enough.
func (b *bench) listQueries(r *query.Reader, c corpus) []listQuery {
	some := c.samples()
	of := func(i int) errata.Event { return some[i%len(some)] }
	list := func(name string, l limits, filter func(i int) query.Filter) listQuery {
		return listQuery{name, l, func(ctx context.Context, i int) error { return found(r.Find(ctx, filter(i), query.Page{})) }}
	}
	same := func(name string, l limits, f query.Filter) listQuery {
		return list(name, l, func(int) query.Filter { return f })
	}
	queries := []listQuery{
		same("default page", limitDefault, query.Filter{}),
		{"detail with payload", limitDetail, c.detail(r)},
		same("types=database", limitNarrow, query.Filter{Books: []errata.Book{errata.BookDatabase}}),
		same("levels=fatal", limitNarrow, query.Filter{Levels: []errata.Level{errata.LevelFatal}}),
		list("exception_class", limitNarrow, func(i int) query.Filter { return query.Filter{Class: of(i).Class} }),
		same("exception_class, a part", limitNarrow, query.Filter{Class: "class1"}),
		same("min_occurrence=50", limitNarrow, query.Filter{MinOccurrence: 50}),
		same("date_range, 30 days", limitNarrow, query.Filter{From: c.end.AddDate(0, 0, -30)}),
		same("date_range, an old week", limitNarrow, query.Filter{From: c.end.AddDate(0, 0, -60), To: c.end.AddDate(0, 0, -53)}),
		list("project", limitProject, func(i int) query.Filter {
			return query.Filter{Projects: query.OnlyProjects(corpusProject(c.sample(i)))}
		}),
		list("environment", limitScoped, func(i int) query.Filter {
			return query.Filter{Environments: query.Names{corpusEnvironment(c.sample(i))}}
		}),
		list("release", limitScoped, func(i int) query.Filter { return query.Filter{Releases: query.Names{corpusRelease(c.sample(i))}} }),
		list("environment, by count", limitCounted, func(i int) query.Filter {
			return query.Filter{Environments: query.Names{corpusEnvironment(c.sample(i))}, MinOccurrence: 2}
		}),
		same("status=muted", limitNarrow, query.Filter{Statuses: []errata.Status{errata.StatusMuted}}),
		list("user_id", limitWide, func(i int) query.Filter { id := of(i).UserID; return query.Filter{UserID: &id} }),
		list("ip", limitWide, func(i int) query.Filter { ip := of(i).IP; return query.Filter{IP: netip.PrefixFrom(ip, ip.BitLen())} }),
		list("file", limitWide, func(i int) query.Filter { return query.Filter{File: of(i).File} }),
		list("search, in one record", limitText, func(i int) query.Filter { return query.Filter{Search: c.word(c.sample(i))} }),
		list("search, in one of 400", limitText, func(i int) query.Filter { return query.Filter{Search: fmt.Sprintf("db%d.", 10+i%50)} }),
		list("message, in one record", limitText, func(i int) query.Filter { return query.Filter{Message: c.word(c.sample(i))} }),
		list("message, in one of 400", limitText, func(i int) query.Filter { return query.Filter{Message: fmt.Sprintf("db%d.", 10+i%50)} }),
		list("request_uri", limitText, func(i int) query.Filter { return query.Filter{URI: fmt.Sprintf("customers/%d", 10+i%90)} }),
	}
	const perPage = query.DefaultLimit
	if page := min(25_000, c.n-perPage) / perPage; page > 0 {
		queries = append(queries, listQuery{fmt.Sprintf("page at offset %d", page*perPage), limitDeep, func(ctx context.Context, _ int) error {
			l, err := r.Find(ctx, query.Filter{}, query.Page{Number: page + 1})
			if err == nil && len(l.Records) != perPage {
				err = fmt.Errorf("%d records on the page, want %d", len(l.Records), perPage)
			}
			return err
		}})
	}
	return queries
}

// found turns an empty list into an error: a query without a result is fast.
func found(l query.List, err error) error {
	if err == nil && (l.Total == 0 || len(l.Records) == 0) {
		err = errors.New("nothing was found")
	}
	return err
}

// sample is a problem somewhere in the corpus.
func (c corpus) sample(i int) int { return int(draw(i%sampleCount, ofSample) % uint64(c.n)) }

// samples are first sightings with a class, a user and an address.
func (c corpus) samples() (some []errata.Event) {
	for i := 0; i < c.n && len(some) < sampleCount; i++ {
		k := int(draw(i, ofSample) % uint64(c.n))
		if e := c.event(k); e.Class != "" && e.UserID != 0 {
			some = append(some, e)
		}
	}
	return some
}

// detail reads records that have a payload, another one each time.
func (c corpus) detail(r *query.Reader) func(ctx context.Context, i int) error {
	return func(ctx context.Context, i int) error {
		e := c.event(int(draw(i, ofSample) % uint64(min(c.n, payloadRecords))))
		record, payload, err := r.Detail(ctx, e.Book, e.Signature, query.Projects{})
		if err != nil {
			return err
		}
		if record.Signature != e.Signature || len(payload) != len(e.Payload) {
			return fmt.Errorf("record %s has a payload of %d bytes, want %d", record.Signature, len(payload), len(e.Payload))
		}
		return nil
	}
}
