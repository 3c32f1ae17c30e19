package query

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
)

var update = flag.Bool("update", false, "write the golden files anew")

// many is more rows than any rule needs before it reads in order.
const many = 1_000_000

// statements are the queries for a page when raw rows match, each with a title.
// The total is always among them, because deeper pages need it first.
func statements(t *testing.T, f Filter, p Page, raw uint64) (titles []string, all []statement) {
	t.Helper()
	add := func(title string, q statement, err error) {
		if err != nil {
			t.Fatalf("%s: %v", title, err)
		}
		titles, all = append(titles, title), append(all, q)
	}
	p = p.normal()
	s := p.slice()
	if f = f.sinceOnly(); len(f.Tags) > 0 && !f.latest(p) {
		q, err := taggedStatement(f, p)
		add("total and page", q, err)
		return titles, all
	}
	if f.Scoped() {
		q, err := scopedTotalStatement(f, false)
		add("total", q, err)
		q, err = scopedTotalStatement(f, true)
		add("total, in little memory", q, err)
		q, err = scopedWindowStatement(f, s.window)
		add("page, in order", q, err)
		q, err = scopedPageStatement(f, p)
		add("page", q, err)
		return titles, all
	}
	if inOneScan(f, p) {
		q, err := oneScanStatement(f, s)
		add("total and page in one scan", q, err)
		return titles, all
	}
	q, err := totalStatement(f)
	add("total", q, err)
	byLast := inOrder(f, p, raw, s.window)
	q, err = pageStatement(f, s, byLast)
	add(map[bool]string{true: "page, in order", false: "page"}[byLast], q, err)
	return titles, all
}

// golden is the statements as a file that can be read as SQL.
func golden(t *testing.T, titles []string, all []statement) string {
	var text strings.Builder
	for i, q := range all {
		fmt.Fprintf(&text, "-- %s\n%s", titles[i], q.text)
		settings := make([]string, 0, len(q.settings))
		for name, value := range q.settings {
			settings = append(settings, fmt.Sprintf("%s = %v", name, value))
		}
		slices.Sort(settings)
		fmt.Fprintf(&text, "-- SETTINGS %s\n", strings.Join(settings, ", "))
		for _, arg := range q.args {
			named := arg.(driver.NamedValue)
			value, err := json.Marshal(named.Value)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&text, "-- %s = %s\n", named.Name, value)
		}
	}
	return text.String()
}

func TestStatements(t *testing.T) {
	for name, c := range map[string]struct {
		filter    string
		page      Page
		unmatched bool
	}{
		"default":            {filter: ""},
		"types":              {filter: "types=database"},
		"levels":             {filter: "levels=error,fatal"},
		"status":             {filter: "status=muted"},
		"signature":          {filter: "signature=00112233445566778899aabbccddeeff"},
		"search":             {filter: "search=50%25_off"},
		"search_hex":         {filter: "search=BEEF"},
		"search_words":       {filter: "search=order+%22upload+failed%22"},
		"search_id":          {filter: "search=00112233-4455-6677-8899-AABBCCDDEEFF"},
		"message":            {filter: "message=order+*+failed"},
		"file":               {filter: "file=src/*.php"},
		"exception_class":    {filter: "exception_class=TypeError"},
		"request_uri":        {filter: "request_uri=/checkout"},
		"http_method":        {filter: "http_method=get"},
		"user_id":            {filter: "user_id=1204"},
		"ip":                 {filter: "ip=203.0.113.9"},
		"ip_prefix":          {filter: "ip=10.0.0.0/8"},
		"ip_prefix_v6":       {filter: "ip=2001:db8::/33"},
		"min_occurrence":     {filter: "min_occurrence=50"},
		"date_range":         {filter: "date_range=2026-11-01..2026-11-21"},
		"hide_noise":         {filter: "hide_noise=1"},
		"environment":        {filter: "environment=production,(unknown)"},
		"environment_others": {filter: "types=system&environment=production&release=shop@1.*&levels=fatal&min_occurrence=2&date_range=today", page: Page{Order: OrderCount, Number: 3}},
		"environment_open":   {filter: "environment=production&status=open&exception_class=TypeError", unmatched: true},
		"tag":                {filter: "tag=region:eu-1"},
		"tag_others":         {filter: "types=system&environment=production&tag=region:eu-1%0Abrowser:Chrome:+130&levels=fatal&min_occurrence=2&date_range=today", page: Page{Order: OrderCount, Number: 3}},
		"event_id":           {filter: "event_id=00112233-4455-6677-8899-AABBCCDDEEFF"},
		"event_id_text":      {filter: "event_id=order+77"},
		"order_count":        {page: Page{Order: OrderCount, Direction: Ascending, Number: 2, Limit: 50}},
		"order_file":         {filter: "search=x", page: Page{Order: OrderFile}},
		"deep":               {page: Page{Number: 1001, Limit: 25}},
		"search_first_seen":  {filter: "search=x", page: Page{Order: OrderFirstSeen, Direction: Ascending}},
		"types_levels_since": {filter: "types=system&levels=fatal&date_range=7d"},
		"everything": {filter: "types=system&levels=fatal&status=open&signature=00112233445566778899aabbccddeeff&search=a&message=b&file=c" +
			"&exception_class=d&request_uri=e&http_method=f&user_id=1&ip=10.0.0.1&min_occurrence=2&date_range=today&hide_noise=1"},
	} {
		t.Run(name, func(t *testing.T) {
			f := mustParse(t, c.filter)
			f.unmatched = c.unmatched
			titles, all := statements(t, f, c.page, many)
			expectGolden(t, name, golden(t, titles, all))
		})
	}
}

func expectGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "statements", name+".sql")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("differs from %s, -update writes it anew (-want +got):\n%s", file, diff)
	}
}

// TestOccurrenceStatements: the questions about single occurrences.
func TestOccurrenceStatements(t *testing.T) {
	record := errata.Record{Book: errata.BookDatabase, Signature: errata.Signature{0: 1, 15: 0xff}, ID: 8192, Count: 118}
	values, err := url.ParseQuery("environment=qa,prod*&release=1&user=ann&tag=region:eu-1&tag=a:b&from=2026-11-01&to=2026-11-21T03:58:25.5Z")
	if err != nil {
		t.Fatal(err)
	}
	f, err := ParseOccurrences(values, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	byHash := OccurrenceFilter{User: "#00000000000000ff"}
	var (
		titles []string
		all    []statement
	)
	add := func(title string, q statement, err error) {
		if err != nil {
			t.Fatalf("%s: %v", title, err)
		}
		titles, all = append(titles, title), append(all, q)
	}
	q, err := occurrencesStatement(&record, append(f.fragments(), upTo(9000)), Descending, 26)
	add("a page", q, err)
	q, err = occurrencesStatement(&record, append(byHash.fragments(), after(9000)), Ascending, 1)
	add("of a user without a name, the next one", q, err)
	q, err = nextStatement(&record, 9000)
	add("where the next one is", q, err)
	q, err = eventStatement("00112233-4455-6677-8899-AABBCCDDEEFF", OnlyProjects(7))
	add("an event id", q, err)
	q, err = eventStatement("order 77", Projects{})
	add("another event id", q, err)
	q, err = usersStatement([]errata.Signature{record.Signature}, share{0, 1})
	add("users of the rows of a page", q, err)
	for _, file := range []string{"facets_deployments.sql", "facets_users.sql", "facets_tags.sql"} {
		q, err = facetsStatement(file, &record, 5, facetSettings())
		add(file, q, err)
	}
	over, err := ParseRange("30d", time.Date(2026, 11, 21, 3, 58, 25, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	q, err = releaseTrendStatement(&record, over)
	add("a trend by release", q, err)
	expectGolden(t, "occurrences", golden(t, titles, all))
}

func mustParse(t *testing.T, raw string) Filter {
	t.Helper()
	values, err := url.ParseQuery(raw)
	if err != nil {
		t.Fatal(err)
	}
	f, _, err := Parse(values, time.Date(2026, 11, 21, 3, 58, 25, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestReversedOrder(t *testing.T) {
	for _, order := range Orders {
		for _, direction := range []Direction{Ascending, Descending} {
			got := orderBy(order, direction)
			if !strings.Contains(got, " "+strings.ToUpper(string(direction))) || !strings.HasSuffix(got, "version DESC, sign ASC") {
				t.Errorf("%s %s: got %q", order, direction, got)
			}
		}
	}
	if Ascending.reversed() != Descending || Descending.reversed() != Ascending {
		t.Error("a direction turned around is not the other one")
	}
}

// FuzzFilterSQL checks that the text of a statement depends on which filters are
// set, never on their values: it is the same for other values of the same kind.
// An address and a prefix are different kinds. So are patterns with and without
// wildcards, and searches that could and could not be a signature.
func FuzzFilterSQL(f *testing.F) {
	f.Add("' OR 1=1 --", "\\'; DROP TABLE records", "{x:String}", "%_*", "/* */", "GET", int64(7), "10.0.0.0/8", uint64(2), "last_seen", true)
	f.Add("beef", "", "a\x00b", "\t\n", "`", "", int64(-1), "::1", uint64(0), "file", false)
	f.Add("?", "$1", "{{.}}", "\xff\xfe", "é", "p'ut", int64(0), "2001:db8::/32", uint64(1)<<63, "count", true)
	f.Fuzz(func(t *testing.T, search, message, file, class, uri, method string, user int64, ip string, count uint64, order string, hide bool) {
		values := url.Values{
			"search": {search}, "message": {message}, "file": {file}, "exception_class": {class}, "request_uri": {uri},
			"http_method": {method}, "user_id": {fmt.Sprint(user)}, "ip": {ip}, "min_occurrence": {fmt.Sprint(count)}, "order": {order},
		}
		filter, page, err := Parse(values, time.Unix(0, 0))
		if err != nil {
			if errata.KindOf(err) == errata.KindInternal {
				t.Fatalf("refusal without a kind: %v", err)
			}
			return
		}
		filter.HideNoise = hide
		_, got := statements(t, filter, page, many)
		_, want := statements(t, plain(filter), page, many)
		for i := range got {
			if got[i].text != want[i].text {
				t.Errorf("the text depends on values (-plain +got):\n%s", cmp.Diff(want[i].text, got[i].text))
			}
			checkParameters(t, got[i])
		}
	})
}

// plain is the filter with every value replaced by a harmless one of its kind.
func plain(f Filter) Filter {
	replace := func(text *string) {
		switch whole, part := likePattern(*text); whole {
		case "":
			*text = ""
		case part:
			*text = "x"
		default:
			*text = "x*y"
		}
	}
	for _, text := range []*string{&f.Message, &f.File, &f.Class, &f.URI} {
		replace(text)
	}
	plainWords := words(f.Search)
	for i, word := range plainWords {
		_, id := errata.ShortUUID(word)
		_, _, hex := signatureRange(word)
		plainWords[i] = map[[2]bool]string{
			{false, false}: "x", {false, true}: "beef", {true, true}: strings.Repeat("0", 32), {true, false}: "00112233-4455-6677-8899-aabbccddeeff",
		}[[2]bool{id, hex}]
	}
	f.Search = strings.Join(plainWords, " ")
	if f.Method != "" {
		f.Method = "GET"
	}
	if f.UserID != nil {
		f.UserID = new(int64)
	}
	if f.MinOccurrence > 1 {
		f.MinOccurrence = 2
	}
	switch {
	case f.IP.IsSingleIP():
		f.IP = netip.MustParsePrefix("192.0.2.1/32")
	case f.IP.IsValid() && f.IP.Addr().Is4():
		f.IP = netip.MustParsePrefix("192.0.2.0/24")
	case f.IP.IsValid():
		f.IP = netip.MustParsePrefix("2001:db8::/32")
	}
	return f
}

var parameterNames = regexp.MustCompile(`\{(\w+):`)

// checkParameters checks that each parameter of the text has one argument, and
// that each argument has a parameter.
func checkParameters(t *testing.T, q statement) {
	t.Helper()
	var wanted, given []string
	for _, match := range parameterNames.FindAllStringSubmatch(q.text, -1) {
		wanted = append(wanted, match[1])
	}
	for _, arg := range q.args {
		given = append(given, arg.(driver.NamedValue).Name)
	}
	slices.Sort(wanted)
	slices.Sort(given)
	if wanted = slices.Compact(wanted); !slices.Equal(wanted, given) {
		t.Errorf("parameters %v, arguments %v in:\n%s", wanted, given, q.text)
	}
}
