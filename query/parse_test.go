package query_test

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
)

// now is what relative dates of the tests count from: a Saturday morning.
var now = time.Date(2026, 11, 21, 3, 58, 25, 123_456_789, time.UTC)

var compare = []cmp.Option{cmpopts.EquateComparable(netip.Prefix{}, netip.Addr{}), cmpopts.IgnoreUnexported(query.Filter{})}

var firstPage = query.Page{Order: query.OrderLastSeen, Direction: query.Descending, Number: 1, Limit: 25}

func parseQuery(t *testing.T, raw string) (query.Filter, query.Page, error) {
	t.Helper()
	values, err := url.ParseQuery(raw)
	if err != nil {
		t.Fatalf("test's own query %q: %v", raw, err)
	}
	return query.Parse(values, now)
}

// long: it is a table.
func TestParseFilters(t *testing.T) {
	signature, err := errata.ParseSignature("00112233445566778899aabbccddeeff")
	if err != nil {
		t.Fatal(err)
	}
	id := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		raw  string
		want query.Filter
	}{
		{"", query.Filter{}},
		{"unknown=1&limit=", query.Filter{}},
		{"types=database", query.Filter{Books: []errata.Book{errata.BookDatabase}}},
		{"types=Database, SYSTEM,,system", query.Filter{Books: []errata.Book{errata.BookSystem, errata.BookDatabase}}},
		{"types=system&types=database", query.Filter{Books: []errata.Book{errata.BookSystem, errata.BookDatabase}}},
		{"types=,", query.Filter{}},
		{"levels=fatal,WARN,panic", query.Filter{Levels: []errata.Level{errata.LevelWarning, errata.LevelFatal}}},
		{"levels=trace", query.Filter{Levels: []errata.Level{errata.LevelDebug}}},
		{"status=open", query.Filter{Statuses: []errata.Status{errata.StatusOpen}}},
		{"status=Unresolved,snoozed,archived,active,new", query.Filter{Statuses: []errata.Status{errata.StatusMuted, errata.StatusOpen}}},
		{"signature=00112233445566778899AABBCCDDEEFF", query.Filter{Signature: &signature}},
		{"search=+two+words%0a", query.Filter{Search: "two words"}},
		{"search=%22%22+%22", query.Filter{Search: `"" "`}},
		{"search=%22%22", query.Filter{}},
		{"message=+a%0d%0ab%09", query.Filter{Message: "a b"}},
		{"search=+++", query.Filter{}},
		{"search=a%ff", query.Filter{Search: "a\uFFFD"}},
		{"message=*a*&file=b&request_uri=/c&exception_class=D", query.Filter{Message: "*a*", File: "b", URI: "/c", Class: "D"}},
		{"http_method=+get", query.Filter{Method: "get"}},
		{"user_id=0", query.Filter{UserID: id(0)}},
		{"user_id=-7", query.Filter{UserID: id(-7)}},
		{"user_id=9223372036854775807", query.Filter{UserID: id(1<<63 - 1)}},
		{"ip=203.0.113.9", query.Filter{IP: netip.MustParsePrefix("203.0.113.9/32")}},
		{"ip=::ffff:203.0.113.9", query.Filter{IP: netip.MustParsePrefix("203.0.113.9/32")}},
		{"ip=10.1.2.3/8", query.Filter{IP: netip.MustParsePrefix("10.0.0.0/8")}},
		{"ip=::ffff:10.0.0.0/104", query.Filter{IP: netip.MustParsePrefix("10.0.0.0/8")}},
		{"ip=2001:DB8::1", query.Filter{IP: netip.MustParsePrefix("2001:db8::1/128")}},
		{"ip=2001:db8::1/32", query.Filter{IP: netip.MustParsePrefix("2001:db8::/32")}},
		{"min_occurrence=50", query.Filter{MinOccurrence: 50}},
		{"min_occurrence=-3", query.Filter{}},
		{"hide_noise=yes", query.Filter{HideNoise: true}},
		{"hide_noise=ON", query.Filter{HideNoise: true}},
		{"hide_noise=1", query.Filter{HideNoise: true}},
		{"hide_noise=True", query.Filter{HideNoise: true}},
		{"hide_noise=0", query.Filter{}},
		{"hide_noise=off", query.Filter{}},
		{"environment=production,+Staging,,production", query.Filter{Environments: query.Names{"Staging", "production"}}},
		{"environment=(unknown)&environment=prod*", query.Filter{Environments: query.Names{"", "prod*"}}},
		{"environment=,&release=+", query.Filter{}},
		{"tag=url:https://shop,+x&tag=+a+:+b+%0Aa:b%0A%0Ac:", query.Filter{Tags: []errata.Tag{{Key: "a", Value: "b"}, {Key: "c"}, {Key: "url", Value: "https://shop, x"}}}},
		{"event_id=+order+7+&tag=", query.Filter{EventID: "order 7"}},
		{"release=shop@1.0,a%ff", query.Filter{Releases: query.Names{"a\uFFFD", "shop@1.0"}}},
		{"project=web-shop", query.Filter{}}, // the API reads it
	} {
		got, page, err := parseQuery(t, c.raw)
		if err != nil {
			t.Errorf("%q: %v", c.raw, err)
			continue
		}
		if diff := cmp.Diff(c.want, got, compare...); diff != "" {
			t.Errorf("%q: filter (-want +got):\n%s", c.raw, diff)
		}
		if page != firstPage {
			t.Errorf("%q: page %+v, want %+v", c.raw, page, firstPage)
		}
	}
}

func TestParsePages(t *testing.T) {
	for _, c := range []struct {
		raw           string
		number, limit int
	}{
		{"page=3&limit=10", 3, 10},
		{"page=0&limit=0", 1, 25},
		{"page=-9&limit=-9", 1, 25},
		{"limit=100", 1, 100},
		{"limit=101", 1, 100},
		{"page=1000000001", 1_000_000_000, 25},
		{"page=99999999999999999999&limit=99999999999999999999", 1_000_000_000, 100},
		{"page=-99999999999999999999", 1, 25},
		{"page=+2+", 2, 25},
	} {
		_, page, err := parseQuery(t, c.raw)
		if err != nil || page.Number != c.number || page.Limit != c.limit {
			t.Errorf("%q: got page %d, limit %d, error %v; want %d, %d", c.raw, page.Number, page.Limit, err, c.number, c.limit)
		}
	}
	for _, order := range query.Orders {
		_, page, err := parseQuery(t, "direction=ASC&order="+strings.ToUpper(string(order)))
		if err != nil || page.Order != order || page.Direction != query.Ascending {
			t.Errorf("order %s: got %+v, %v", order, page, err)
		}
	}
}

func TestParseRefusals(t *testing.T) {
	long := strings.Repeat("a", 1025)
	for _, c := range []struct {
		raw  string
		kind errata.Kind
		says []string
	}{
		{"types=system,files", errata.KindInvalidType, []string{`"files"`, "system, database"}},
		{"levels=loud", errata.KindInvalidLevel, []string{`"loud"`, "debug, info, notice, warning, error, critical, fatal"}},
		{"status=done", errata.KindInvalidStatus, []string{`"done"`, "open, resolved, muted"}},
		{"order=size", errata.KindInvalidOrder, []string{`"size"`, "last_seen, first_seen, count"}},
		{"order=last_seen;DROP", errata.KindInvalidOrder, nil},
		{"direction=up", errata.KindInvalidDirection, []string{`"up"`, "desc, asc"}},
		{"page=two", errata.KindInvalidPage, []string{`"two"`}},
		{"page=1.5", errata.KindInvalidPage, []string{`"1.5"`}},
		{"limit=all", errata.KindInvalidLimit, []string{`"all"`}},
		{"user_id=root", errata.KindInvalidNumber, []string{"user_id", `"root"`}},
		{"user_id=9223372036854775808", errata.KindInvalidNumber, nil},
		{"min_occurrence=many", errata.KindInvalidNumber, []string{"min_occurrence", `"many"`}},
		{"min_occurrence=1e3", errata.KindInvalidNumber, nil},
		{"hide_noise=maybe", errata.KindInvalidBoolean, []string{`"maybe"`, "yes"}},
		{"ip=localhost", errata.KindInvalidIP, []string{`"localhost"`}},
		{"ip=10.0.0.0/33", errata.KindInvalidIP, nil},
		{"ip=fe80::1%25eth0", errata.KindInvalidIP, nil},
		{"signature=00112233", errata.KindSignatureRequired, []string{`"00112233"`, "32 hex"}},
		{"signature=g0112233445566778899aabbccddeeff", errata.KindSignatureRequired, nil},
		{"date_range=soon", errata.KindInvalidDateRange, []string{`"soon"`, "2026-11-01..2026-11-21"}},
		{"message=" + long, errata.KindInvalidPattern, []string{"message", "1025"}},
		{"search=" + long, errata.KindInvalidPattern, []string{"search"}},
		{"release=" + long, errata.KindInvalidPattern, []string{"release", "1025"}},
		{"levels=" + long, errata.KindInvalidLevel, []string{strings.Repeat("a", 64) + "…"}},
	} {
		_, _, err := parseQuery(t, strings.ReplaceAll(c.raw, ";", "%3B"))
		if got := errata.KindOf(err); err == nil || got != c.kind {
			t.Errorf("%.60q: got %v, want kind %s", c.raw, err, c.kind)
			continue
		}
		if len(err.Error()) > 400 {
			t.Errorf("%.60q: error of %d bytes repeats too much", c.raw, len(err.Error()))
		}
		for _, part := range c.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%.60q: error %q does not say %q", c.raw, err, part)
			}
		}
	}
}

func TestParseDateRange(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 11, d, 0, 0, 0, 0, time.UTC) }
	last := func(d int) time.Time { return day(d + 1).Add(-time.Millisecond) }
	milli := time.Date(2026, 11, 21, 3, 58, 25, 124_000_000, time.UTC)
	var open time.Time
	for _, c := range []struct {
		text     string
		from, to time.Time
	}{
		{"2026-11-01..2026-11-21", day(1), last(21)},
		{"2026-11-01,2026-11-21", day(1), last(21)},
		{"2026-11-01 - 2026-11-21", day(1), last(21)},
		{"2026-11-01 to 2026-11-21", day(1), last(21)},
		{"2026-11-01 TO 2026-11-21", day(1), last(21)},
		{" 2026-11-01 .. 2026-11-21 ", day(1), last(21)},
		{"2026-11-05", day(5), last(5)},
		{"2026-11-05..2026-11-05", day(5), last(5)},
		{"2026-11-01..", day(1), open},
		{"..2026-11-21", open, last(21)},
		{"2026-11-01,", day(1), open},
		{"2026-11-01 - ", day(1), open},
		{"- 2026-11-21", open, last(21)},
		{"to 2026-11-21", open, last(21)},
		{"2026-11-01T10:00:00Z..2026-11-21T10:00:00.5Z", day(1).Add(10 * time.Hour), day(21).Add(10*time.Hour + 500*time.Millisecond)},
		{"2026-11-01T10:00:00z to 2026-11-02", day(1).Add(10 * time.Hour), last(2)},
		{"2026-11-01T01:00:00+02:00..", day(1).Add(-time.Hour), open},
		{"2026-11-01T01:00:00 02:00..", day(1).Add(-time.Hour), open},
		{"2026-11-01T00:00:00.0001Z..2026-11-01T00:00:00.0019Z", day(1).Add(time.Millisecond), day(1).Add(time.Millisecond)},
		{"0001-01-01..9999-12-31", time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999_000_000, time.UTC)},
		{"today", day(21), last(21)},
		{"Yesterday", day(20), last(20)},
		{"yesterday..today", day(20), last(21)},
		{"24h", milli.Add(-24 * time.Hour), open},
		{"7D", milli.Add(-7 * 24 * time.Hour), open},
		{"2w", milli.Add(-14 * 24 * time.Hour), open},
		{"90m", milli.Add(-90 * time.Minute), open},
	} {
		f, _, err := query.Parse(url.Values{"date_range": {c.text}}, now)
		if err != nil || !f.From.Equal(c.from) || !f.To.Equal(c.to) {
			t.Errorf("%q: got %v to %v, error %v; want %v to %v", c.text, f.From, f.To, err, c.from, c.to)
		}
	}
	for _, text := range []string{
		"..", ",", " - ", "to", "x", "7", "d", "-7d", "7y", "99999d", "2026-13-01", "2026-02-30", "2026-11-01..x", "x..2026-11-01",
		"2026-11-21..2026-11-01", "2026-11-01T10:00:00Z", "2026-11-01T10:00:00..", "2026-11-01..2026-11-02..2026-11-03", "01.11.2026",
	} {
		f, _, err := query.Parse(url.Values{"date_range": {text}}, now)
		if errata.KindOf(err) != errata.KindInvalidDateRange || err == nil {
			t.Errorf("%q: got %v to %v, error %v; want kind %s", text, f.From, f.To, err, errata.KindInvalidDateRange)
		}
	}
}
