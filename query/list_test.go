package query_test

import (
	"context"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/test/querytest"
	"github.com/errata-log/errata/test/testenv"
)

// store is a table of records with many states each, and its model.
type store struct {
	*model
	ready  querytest.Ready // the records at the end
	reader *query.Reader
	env    *testenv.Env
}

// newStore fills a table: 6,100 records, half of them seen again several
// times, some deleted, some seen again after that. Without merges the table has
// every state. It has more rows than shareRows, and pages with larger windows than
// shallowWindow.
func newStore(t *testing.T) store {
	t.Helper()
	env := testenv.New(t)
	ctx := t.Context()
	m := newModel(7)
	s := store{model: m, reader: query.New(query.Config{ClickHouse: env.ReadOnlyClickHouse}), env: env}
	s.exec(t, "SYSTEM STOP MERGES records")
	insert(ctx, t, env.ClickHouse, m.grow(4000))
	for range 4 {
		insert(ctx, t, env.ClickHouse, m.change(1250, 100))
		insert(ctx, t, env.ClickHouse, m.grow(625))
	}
	m.writeContexts(ctx, t, env.ClickHouse)
	s.ready = querytest.Prepare(m.live, func(r errata.Record) querytest.Seen { return m.seen[r.ID] })
	if rows := s.rows(t); len(m.live) < 6000 || rows < 2*len(m.live) {
		t.Fatalf("the table has %d rows for %d records: not what this test is about", rows, len(m.live))
	}
	return s
}

func (s store) exec(t *testing.T, sql string) {
	t.Helper()
	if err := s.env.ClickHouse.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// rows is how many rows the table has.
func (s store) rows(t *testing.T) int {
	t.Helper()
	var rows uint64
	if err := s.env.ClickHouse.QueryRow(t.Context(), "SELECT count() FROM records WHERE book != 'checkpoint'").Scan(&rows); err != nil {
		t.Fatal(err)
	}
	return int(rows)
}

// merge leaves the last state of each record in the table.
func (s store) merge(t *testing.T) {
	t.Helper()
	s.exec(t, "SYSTEM START MERGES records")
	s.exec(t, "OPTIMIZE TABLE records FINAL")
	if rows := s.rows(t); rows != len(s.live) {
		t.Fatalf("the merged table has %d rows for %d records", rows, len(s.live))
	}
}

// TestList compares lists with the model, before a merge and after.
func TestList(t *testing.T) {
	s := newStore(t)
	first, pairs := query.Page{}, s.filterPairs()
	both := func(t *testing.T, n int, pages ...query.Page) {
		t.Run("each filter", func(t *testing.T) {
			for name, all := range s.eachFilter(pages...) {
				t.Run(name, func(t *testing.T) { expectLists(t, s.reader, everyNth(all, n), 1) })
			}
		})
		t.Run("filter pairs", func(t *testing.T) { expectLists(t, s.reader, everyNth(pairs, n), 1) })
	}
	t.Run("unmerged", func(t *testing.T) {
		both(t, 1, first, query.Page{Number: 3, Limit: 7, Direction: query.Ascending})
		t.Run("all pages", s.allPages) // among cancelled states
		t.Run("beyond the end", s.beyondTheEnd)
		t.Run("wildcards", s.wildcards)
	})
	s.merge(t)
	t.Run("merged", func(t *testing.T) { both(t, 2, first) }) // the pairs have other pages
}

// question is a page of a list, and what the model answers.
type question struct {
	filter query.Filter
	page   query.Page
	want   query.List
}

// questions are those for pages of one filter. all has its numbers, if it is scoped.
func questions(all querytest.Ready, f query.Filter, pages ...query.Page) (asked []question) {
	found := all.Matching(f)
	for _, p := range pages {
		querytest.Sort(found, orDefault(p.Order, query.OrderLastSeen), orDefault(p.Direction, query.Descending))
		number, limit := max(p.Number, 1), orDefault(p.Limit, query.DefaultLimit)
		want := query.List{Records: []errata.Record{}, Total: uint64(len(found)), Page: number, Limit: limit, Scoped: f.Scoped()}
		from, to := min((number-1)*limit, len(found)), min(number*limit, len(found))
		for _, r := range found[from:to] {
			want.Records = append(want.Records, *r)
		}
		if to < len(found) {
			want.NextPage = number + 1
		}
		asked = append(asked, question{f, p, want})
	}
	return asked
}

// everyNth are the questions for merged tables, which have fewer states.
func everyNth(asked []question, n int) (some []question) {
	for i := 0; i < len(asked); i += n {
		some = append(some, asked[i])
	}
	return some
}

// expectLists compares the answers of the reader with those of the model. The questions must
// match so many records together.
func expectLists(t *testing.T, reader *query.Reader, questions []question, least int) {
	t.Helper()
	found := uint64(0)
	for _, q := range questions {
		got, err := reader.Find(t.Context(), q.filter, q.page)
		if err != nil {
			t.Errorf("%s: %v", describe(q.filter, q.page), err)
		} else if diff := cmp.Diff(q.want, got, compare...); diff != "" {
			t.Errorf("%s (-want +got):\n%.2000s", describe(q.filter, q.page), diff)
		}
		found += q.want.Total
	}
	if found < uint64(least) {
		t.Errorf("the filters match %d records, too few to test with", found)
	}
}

// filters has every filter alone, with values that match some records, many and
// none.
func (m *model) filters() map[string][]query.Filter {
	some := m.live[len(m.live)/2]
	user, nobody := some.UserID, int64(999)
	signature, unknown := some.Signature, errata.Signature{1}
	prefix := netip.MustParsePrefix
	at := modelDay.Add(-3 * 24 * time.Hour)
	var id string
	for _, r := range m.live {
		if id = m.seen[r.ID].EventID; id != "" {
			break
		}
	}
	dashed := id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:]
	text := func(set func(*query.Filter, string), patterns ...string) []query.Filter {
		var all []query.Filter
		for _, pattern := range patterns {
			var f query.Filter
			set(&f, pattern)
			all = append(all, f)
		}
		return all
	}
	return map[string][]query.Filter{
		"types":     {{Books: []errata.Book{errata.BookDatabase}}, {Books: []errata.Book{errata.BookSystem}}, {Books: errata.Books}},
		"levels":    {{Levels: []errata.Level{errata.LevelFatal}}, {Levels: []errata.Level{errata.LevelDebug, errata.LevelError}}},
		"status":    {{Statuses: []errata.Status{errata.StatusMuted}}, {Statuses: []errata.Status{errata.StatusOpen, errata.StatusResolved}}},
		"signature": {{Signature: &signature}, {Signature: &unknown}},
		"search": text(func(f *query.Filter, s string) { f.Search = s },
			"failed", "ÜBERGRÖ", "путь", "50%", "_", `\temp`, "o'clock", "*", "deadbeef", "a", signature.String()[:7], strings.ToUpper(signature.String()), "no such text",
			"second", "end", `"line des"`, "ΟΔΟΣ", "пдо причина", "PDOException", "sqlstate", "orders/7", "übergabe", "Order.php:7", "order.php:", "failed typeerror checkout",
			"FAILED src/Order.php:7", `"order 1" failed`, `"failed order"`, "1 2", signature.String()[:2]+" order", id, strings.ToUpper(id), dashed, dashed+" "+signature.String()[:4], id[1:]),
		"message": text(func(f *query.Filter, s string) { f.Message = s },
			"order*failed", "ORDER", "*off", "%", "_", `\`, "straße", "первый", "не*н", "first*second", "order*end", "line*des", "order*sqlstate", "οδο", "* *1*", "no*such", "o**o"),
		"file":            text(func(f *query.Filter, s string) { f.File = s }, ".php", "src/*item_1*.php", "GRÖSSE", "größe", "none"),
		"exception_class": text(func(f *query.Filter, s string) { f.Class = s }, "error", `App\Order`, "ОШИБ", "r*e", "none"),
		"request_uri":     text(func(f *query.Filter, s string) { f.URI = s }, "/checkout", "100%", "a_b", "/order/*9", "none"),
		"http_method":     {{Method: "GET"}, {Method: "put"}, {Method: "GE"}},
		"user_id":         {{UserID: &user}, {UserID: new(int64)}, {UserID: &nobody}},
		"ip": {
			{IP: prefix("203.0.113.9/32")}, {IP: prefix("203.0.113.0/24")}, {IP: prefix("10.0.0.0/8")}, {IP: prefix("0.0.0.0/0")}, {IP: prefix("10.0.0.0/9")},
			{IP: prefix("2001:db8::1/128")}, {IP: prefix("2001:db8::/32")}, {IP: prefix("2001:db8::/33")}, {IP: prefix("::/0")}, {IP: prefix("::1/128")}, {IP: prefix("192.0.2.1/32")},
		},
		"min_occurrence": {{MinOccurrence: 2}, {MinOccurrence: 40}, {MinOccurrence: 1 << 40}},
		"date_range":     {{From: at}, {To: at}, {From: at, To: at.Add(10 * time.Second)}, {From: some.LastSeen, To: some.LastSeen}, {To: time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)}, {From: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}},
		"project":        {{Projects: query.OnlyProjects(2)}, {Projects: query.OnlyProjects(1, 3, 99)}, {Projects: query.OnlyProjects()}, {Projects: query.OnlyProjects(1).And(query.OnlyProjects(2))}},
		"hide_noise":     {{HideNoise: true}, {HideNoise: true, Search: "order"}},
	}
}

// eachFilter asks each filter for the first page, and every second filter for all pages.
func (s store) eachFilter(pages ...query.Page) map[string][]question {
	asked := map[string][]question{}
	for name, filters := range s.filters() {
		for i, f := range filters {
			of := pages
			if i%2 == 1 {
				of = pages[:1]
			}
			asked[name] = append(asked[name], questions(s.ready, f, of...)...)
		}
	}
	return asked
}

func (s store) filterPairs() (asked []question) {
	names := []string{"types", "levels", "status", "search", "message", "file", "exception_class", "request_uri", "http_method", "user_id", "ip", "min_occurrence", "date_range", "hide_noise", "project"}
	all := s.filters()
	for range 60 {
		a, b := pick(s.model, names...), pick(s.model, names...)
		f := querytest.Join(pick(s.model, all[a]...), pick(s.model, all[b]...))
		asked = append(asked, questions(s.ready, f, query.Page{
			Order: pick(s.model, query.Orders...), Direction: pick(s.model, query.Ascending, query.Descending),
			Number: 1 + s.random.IntN(4), Limit: 1 + s.random.IntN(30),
		})...)
	}
	return asked
}

// allPages checks that all pages of an order together are the sorted set, with no
// record twice and none missing. The filters use the different plans. Of the further
// orders of a plan it reads those that are worth asking, in one direction.
func (s store) allPages(t *testing.T) {
	both := []query.Direction{query.Ascending, query.Descending}
	for name, c := range map[string]struct {
		filter     query.Filter
		orders     []query.Order
		directions []query.Direction
		limit      int
	}{
		"in order":    {query.Filter{}, []query.Order{query.OrderLastSeen}, both[1:], 100},
		"since":       {query.Filter{From: modelDay.AddDate(0, 0, -2)}, []query.Order{query.OrderLastSeen}, both, 100},
		"in the base": {query.Filter{Books: []errata.Book{errata.BookDatabase}, Levels: []errata.Level{errata.LevelInfo, errata.LevelFatal}}, query.Orders, both, 100},
		"in one scan": {query.Filter{Message: "order", Levels: []errata.Level{errata.LevelFatal}}, query.Orders, both, 77},
	} {
		t.Run(name, func(t *testing.T) {
			for i, order := range c.orders {
				for j, direction := range c.directions {
					if i > 0 && j != i%len(c.directions) {
						continue
					}
					s.checkPages(t, c.filter, order, direction, c.limit, i+j == 0)
				}
			}
		})
	}
}

// checkPages compares pages with their part of the sorted set: all of them, or some.
func (s store) checkPages(t *testing.T, f query.Filter, order query.Order, direction query.Direction, limit int, all bool) {
	t.Helper()
	want := s.ready.Select(f, order, direction)
	last := (len(want) + limit - 1) / limit
	for number := 1; number <= last; number++ {
		if !all && !s.worthAsking(number, last) {
			continue
		}
		list, err := s.reader.Find(t.Context(), f, query.Page{Order: order, Direction: direction, Number: number, Limit: limit})
		if err != nil {
			t.Fatalf("%s %s, page %d: %v", order, direction, number, err)
		}
		if list.Page != number || list.Limit != limit || list.Total != uint64(len(want)) || list.NextPage != (number+1)%(last+1) {
			t.Fatalf("%s %s: got page %d, limit %d, total %d, next page %d; want %d, %d, %d", order, direction, list.Page, list.Limit, list.Total, list.NextPage, number, limit, len(want))
		}
		part := want[(number-1)*limit : min(number*limit, len(want))]
		if reflect.DeepEqual(part, list.Records) { // cmp takes seconds for so many records
			continue
		}
		if diff := cmp.Diff(part, list.Records, compare...); diff != "" {
			t.Fatalf("%s %s, page %d: %d records (-want +got):\n%.2000s", order, direction, number, len(list.Records), diff)
		}
	}
}

// worthAsking says which pages of a further order are read: those at the ends, those in
// the middle, behind which pages are read from the other end, and one in eight of the
// others, drawn.
func (m *model) worthAsking(number, last int) bool {
	return number <= 2 || number >= last-1 || max(2*number-last, last-2*number) <= 2 || m.random.IntN(8) == 0
}

func orDefault[T comparable](value, other T) T {
	var zero T
	if value == zero {
		return other
	}
	return value
}

func describe(f query.Filter, p query.Page) string { return fmt.Sprintf("filter %+v, page %+v", f, p) }

func (s store) beyondTheEnd(t *testing.T) {
	for _, f := range []query.Filter{{}, {Message: "order"}, {Message: "no such text"}, {Levels: []errata.Level{errata.LevelFatal}}} {
		for _, number := range []int{500, 1_000_000_000, 2_000_000_000} {
			list, err := s.reader.Find(t.Context(), f, query.Page{Number: number, Limit: 100})
			if err != nil || len(list.Records) != 0 || list.NextPage != 0 || list.Total != uint64(len(s.ready.Matching(f))) {
				t.Errorf("page %d of %+v: got %d records, next page %d, total %d, error %v", number, f, len(list.Records), list.NextPage, list.Total, err)
			}
		}
	}
}

// TestLateSigma searches Greek texts: the lower case of a sigma at the end of a
// word has another form than within a word.
func TestLateSigma(t *testing.T) {
	env := testenv.New(t)
	m := newModel(1)
	rows := m.grow(2)
	rows[0].record.Message, rows[1].record.Message = "ΟΔΟΣΑ ΧΧ", "οδοσ"
	insert(t.Context(), t, env.ClickHouse, rows)
	for _, text := range []string{"ΟΔΟΣ", "οδος", "οδοσ", "ΟΔ"} {
		for _, f := range []query.Filter{{Message: text}, {Search: text}, {Message: "Ο*" + text[2:]}} {
			list, err := query.New(query.Config{ClickHouse: env.ClickHouse}).Find(t.Context(), f, query.Page{})
			if err != nil || list.Total != 2 {
				t.Errorf("%+v: got %d records, error %v; want both", f, list.Total, err)
			}
		}
	}
}

// wildcards checks that the longest patterns that Parse accepts do not exhaust
// ClickHouse's matcher.
func (s store) wildcards(t *testing.T) {
	for _, pattern := range []string{strings.Repeat("*o", 512), strings.Repeat("o*", 512), strings.Repeat("ж*", 341), strings.Repeat("*", 1024)} {
		expectLists(t, s.reader, questions(s.ready, query.Filter{Message: pattern}, query.Page{}), 0)
	}
}

// TestListWhileRecordsChange checks pages while every record on them is counted
// and merges run: a page is full and sorted, has no record twice, and the total
// is exact.
func TestListWhileRecordsChange(t *testing.T) {
	env := testenv.New(t)
	m := newModel(3)
	const records = 3000
	insert(t.Context(), t, env.ClickHouse, m.grow(records))
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var writer sync.WaitGroup
	batches := 0
	writer.Go(func() {
		for ; ctx.Err() == nil; batches++ {
			insert(context.WithoutCancel(ctx), t, env.ClickHouse, m.change(500, 0))
		}
	})
	defer writer.Wait()
	defer stop()
	reader := query.New(query.Config{ClickHouse: env.ReadOnlyClickHouse})
	short := 0
	const lists = 200
	for i := range lists {
		f := []query.Filter{{}, {MinOccurrence: 1, Levels: []errata.Level{1, 2, 3, 4, 5, 6, 7}}, {Search: ""}, {IP: netip.MustParsePrefix("0.0.0.0/0")}}[i%4]
		list, err := reader.Find(t.Context(), f, query.Page{Limit: 50})
		if err != nil {
			t.Fatal(err)
		}
		if !f.IP.IsValid() && list.Total != records {
			t.Fatalf("list %d: total %d, want %d", i, list.Total, records)
		}
		seen := map[errata.Signature]bool{}
		for j, r := range list.Records {
			if seen[r.Signature] {
				t.Fatalf("list %d: record %s twice", i, r.Signature)
			}
			seen[r.Signature] = true
			if j > 0 && r.LastSeen.After(list.Records[j-1].LastSeen) {
				t.Fatalf("list %d: record %d was seen later than the one before it", i, j)
			}
		}
		if len(list.Records) != 50 {
			short++
		}
	}
	stop()
	writer.Wait()
	if batches < 10 {
		t.Errorf("only %d batches were written meanwhile", batches)
	}
	// The page of the last attempt counts, even if a merge removed a row of it.
	if short > lists/20 {
		t.Errorf("%d of %d pages were short", short, lists)
	}
	t.Logf("%d batches, %d short pages", batches, short)
}
