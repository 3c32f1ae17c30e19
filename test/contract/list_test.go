package contract

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/test/querytest"
)

// TestList compares lists of thousands of records with the model, byte by byte.
func TestList(t *testing.T) {
	t.Parallel()
	l := fill(t, start(t))
	for name, part := range map[string]func(*testing.T){
		"every filter": l.everyFilter, "every order": l.everyOrder, "filters together": l.filtersTogether,
		"pages": l.everyPage, "limits": l.limits, "lists in brackets": l.inBrackets, "details": l.details,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they only read
			part(t)
		})
	}
}

// asked is a request for a list, with the parameters that the service must use.
type asked struct {
	parameters  url.Values
	filter      query.Filter
	order       query.Order
	direction   query.Direction
	page, limit int // as the service must use them
}

// ask is a request for a list without parameters.
func ask() asked {
	return asked{url.Values{}, query.Filter{}, query.OrderLastSeen, query.Descending, 1, 25}
}

func (q asked) filtered(c choice) asked {
	q.parameters.Set(c.name, c.value)
	q.filter = querytest.Join(c.filter, q.filter)
	return q
}

func (q asked) sorted(order query.Order, direction query.Direction) asked {
	q.parameters.Set("order", string(order))
	q.parameters.Set("direction", string(direction))
	q.order, q.direction = order, direction
	return q
}

func (q asked) paged(number, limit int) asked {
	q.parameters.Set("page", strconv.Itoa(number))
	q.parameters.Set("limit", strconv.Itoa(limit))
	q.page, q.limit = number, limit
	return q
}

// check sends the request, compares the whole answer with the model, and returns
// how many records match.
func (l *ledger) check(t *testing.T, q asked) (total int) {
	t.Helper()
	return l.compare(t, q, l.selected(q.filter, q.order, q.direction))
}

func (l *ledger) compare(t *testing.T, q asked, all []errata.Record) (total int) {
	t.Helper()
	from, to, next := min((q.page-1)*q.limit, len(all)), min(q.page*q.limit, len(all)), 0
	if to < len(all) {
		next = q.page + 1
	}
	path := errorsPath
	if len(q.parameters) > 0 {
		path += "?" + q.parameters.Encode()
	}
	a := l.do(t, request{method: http.MethodGet, path: path})
	want := page(all[from:to], len(all), q.page, q.limit, next)
	if a.status != http.StatusOK || a.body != want {
		t.Errorf("%v: %d, differs at %s", q.parameters, a.status, difference(a.body, want))
	}
	return len(all)
}

// difference shows the first difference of two texts.
func difference(got, want string) string {
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	from := max(0, at-200)
	tail := strings.LastIndex(got, `"meta"`)
	return fmt.Sprintf("byte %d:\n got %.500s\nwant %.500s\n got %s\nwant %s", at, got[from:], want[from:], got[max(tail, 0):], want[strings.LastIndex(want, `"meta"`):])
}

func (l *ledger) everyFilter(t *testing.T) {
	choices := l.choices()
	for _, name := range []string{
		"search", "types", "levels", "signature", "file", "exception_class", "request_uri", "http_method", "user_id", "ip", "status", "min_occurrence", "date_range", "message", "hide_noise",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			some, all := 0, 0
			for i, c := range choices[name] {
				switch l.check(t, ask().filtered(c)) {
				case 0:
				case len(l.records):
					all++
				default:
					if some++; i%4 == 0 { // every list takes time, and filtersTogether has more
						l.check(t, ask().filtered(c).sorted(query.OrderMessage, query.Ascending).paged(2, 3))
					}
				}
			}
			if some == 0 || len(choices[name]) < 3 {
				t.Errorf("of %d values %d match some records: nothing is tested", len(choices[name]), some)
			}
		})
	}
}

func (l *ledger) everyOrder(t *testing.T) {
	for _, order := range query.Orders {
		for _, direction := range []query.Direction{query.Ascending, query.Descending} {
			l.check(t, ask().sorted(order, direction).paged(37, 100))
			q := ask().sorted(order, direction).filtered(choice{"levels", "debug,fatal", query.Filter{Levels: []errata.Level{errata.LevelDebug, errata.LevelFatal}}})
			q.parameters.Set("order", strings.ToUpper(string(order)))
			l.check(t, q)
		}
	}
	q := ask()
	q.parameters.Set("order", "count") // the default is descending
	q.order = query.OrderCount
	l.check(t, q)
	q = ask()
	q.parameters.Set("direction", "ASC")
	q.direction = query.Ascending
	l.check(t, q)
}

// filtersTogether combines two or three filters, with any order and page.
func (l *ledger) filtersTogether(t *testing.T) {
	const lists = 100
	choices := l.choices()
	names := slices.Sorted(maps.Keys(choices))
	for _, name := range names { // a map has no fixed order
		slices.SortFunc(choices[name], func(a, b choice) int { return strings.Compare(a.value, b.value) })
	}
	found := 0
	for range lists {
		q := ask()
		l.random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names[:2+l.random.IntN(2)] {
			q = q.filtered(pick(l.random, choices[name]))
		}
		q = q.sorted(pick(l.random, query.Orders), pick(l.random, []query.Direction{query.Ascending, query.Descending}))
		if l.check(t, q.paged(1+l.random.IntN(3), 1+l.random.IntN(40))) > 0 {
			found++
		}
	}
	if found < lists/4 {
		t.Errorf("only %d of %d lists found anything", found, lists)
	}
}

// everyPage reads all pages with a filter and compares each with the model, so no
// record comes twice and none is left out.
func (l *ledger) everyPage(t *testing.T) {
	for _, c := range []struct {
		asked
		limit int
	}{
		{ask().filtered(choice{"types", "database", query.Filter{Books: []errata.Book{errata.BookDatabase}}}), 100},
		{ask().sorted(query.OrderUserID, query.Ascending).filtered(choice{"levels", "critical", query.Filter{Levels: []errata.Level{errata.LevelCritical}}}), 99},
		{ask().sorted(query.OrderMessage, query.Descending).filtered(choice{"message", "order*1", query.Filter{Message: "order*1"}}), 25},
	} {
		all := l.selected(c.filter, c.order, c.direction)
		for number := 1; (number-1)*c.limit < len(all); number++ {
			l.compare(t, c.paged(number, c.limit), all)
		}
	}
}

// inBrackets sends lists as name[]=a&name[]=b, alone and together with name=a,b.
func (l *ledger) inBrackets(t *testing.T) {
	for _, parameters := range []url.Values{
		{"levels[]": {"debug", "Fatal"}}, {"levels[]": {"debug"}, "levels": {"fatal"}}, {"levels[]": {"", "debug,fatal"}}, {"levels": {"debug", "fatal"}},
	} {
		q := ask()
		q.parameters, q.filter.Levels = parameters, []errata.Level{errata.LevelDebug, errata.LevelFatal}
		if n := l.check(t, q); n == 0 || n == len(l.records) {
			t.Errorf("%v: %d records match: nothing is tested", parameters, n)
		}
	}
	q := ask()
	q.parameters, q.filter.Books = url.Values{"types[]": {"database"}}, []errata.Book{errata.BookDatabase}
	l.check(t, q)
}

func (l *ledger) limits(t *testing.T) {
	for _, c := range []struct {
		page, limit string
		used, size  int
	}{
		{"", "", 1, 25}, {"1", "25", 1, 25}, {"", "0", 1, 25}, {"", "-1", 1, 25}, {"0", "", 1, 25}, {"-7", "", 1, 25}, {"", "1", 1, 1}, {"", "100", 1, 100}, {"", "101", 1, 100},
		{"2", "2147483648", 2, 100}, {"51", "100", 51, 100}, {"52", "100", 52, 100}, {"204", "", 204, 25}, {"205", "", 205, 25}, {"1000000", "100", 1_000_000, 100}, {"02", "3", 2, 3},
	} {
		q := ask()
		q.parameters.Set("page", c.page)
		q.parameters.Set("limit", c.limit)
		q.page, q.limit = c.used, c.size
		l.check(t, q)
	}
	none := ask().filtered(choice{"message", "no such text", query.Filter{Message: "no such text"}})
	l.check(t, none)
	l.check(t, none.paged(7, 10))
}

// details reads records of every kind: the row of the list and the payload of the
// first event, found only in their own book, with the signature in either case.
func (l *ledger) details(t *testing.T) {
	for i := 0; i < len(l.records); i += 401 {
		r := l.records[i]
		signature, book, other := r.Signature.String(), r.Book.String(), "database"
		if book == other {
			other = "system"
		}
		row := strings.TrimSuffix(shown(r), "}")
		for _, path := range []string{signature + "?type=" + book, strings.ToUpper(signature) + "?type=" + strings.ToUpper(book), signature} {
			r := request{method: http.MethodGet, path: errorsPath + "/" + path}
			if path == signature && book == "database" { // the default is system
				l.refused(t, r, http.StatusNotFound, "not_found", signature)
				continue
			}
			got := l.want(t, r, "")
			if !strings.HasPrefix(got, row+`,"payload":{`) || !strings.Contains(got, fmt.Sprintf(`"number":%d}`, i)) || strings.Contains(got, "seen again") {
				t.Errorf("%s:\n got %s\nwant %s and the payload of the first sighting", r, got, row)
			}
		}
		l.refused(t, request{method: http.MethodGet, path: errorsPath + "/" + signature + "?type=" + other}, http.StatusNotFound, "not_found", signature, "book")
	}
}
