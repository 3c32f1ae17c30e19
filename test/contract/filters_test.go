package contract

import (
	"net/netip"
	"strconv"
	"strings"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
)

// choice is a parameter of the list as it is sent, with its meaning. The test
// defines the meaning itself and does not use the service's parser.
type choice struct {
	name, value string
	filter      query.Filter
}

// choices are every filter of the contract with several values each: some
// match a few records, some many, some none.
func (l *ledger) choices() map[string][]choice {
	all := map[string][]choice{}
	add := func(name, value string, f query.Filter) { all[name] = append(all[name], choice{name, value, f}) }
	l.words(add)
	l.patterns(add)
	l.numbers(add)
	l.dates(add)
	for value, on := range map[string]bool{"1": true, "true": true, "on": true, "YES": true, "0": false, "False": false, "off": false, "no": false, "": false} {
		add("hide_noise", value, query.Filter{HideNoise: on})
	}
	return all
}

type adder func(name, value string, f query.Filter)

// words are the filters that take lists of words.
func (l *ledger) words(add adder) {
	system, database := errata.BookSystem, errata.BookDatabase
	for value, books := range map[string][]errata.Book{"system": {system}, "DATABASE": {database}, "system, database": {system, database}, "database,,database": {database}, "": nil} {
		add("types", value, query.Filter{Books: books})
	}
	for value, wanted := range map[string][]errata.Level{
		"debug": {1}, "info": {2}, "notice": {3}, "warning": {4}, "error": {5}, "critical": {6}, "fatal": {7}, "Fatal,DEBUG": {1, 7},
		"warn": {4}, "emergency,trace": {1, 7}, "alert": {7}, "panic": {7}, "error , critical": {5, 6}, " ": nil,
	} {
		add("levels", value, query.Filter{Levels: wanted})
	}
	open, resolved, muted := errata.StatusOpen, errata.StatusResolved, errata.StatusMuted
	for value, statuses := range map[string][]errata.Status{
		"open": {open}, "resolved": {resolved}, "muted": {muted}, "new": {open}, "unresolved": {open}, "active": {open}, "Ignored": {muted}, "archived": {muted},
		"SNOOZED": {muted}, "resolved,ignored": {resolved, muted}, "open,open": {open}, "": nil,
	} {
		add("status", value, query.Filter{Statuses: statuses})
	}
}

// patterns are the filters by text.
func (l *ledger) patterns(add adder) {
	some := l.records[len(l.records)/2].Signature
	for _, value := range []string{some.String(), strings.ToUpper(some.String())} {
		add("signature", value, query.Filter{Signature: &some})
		add("search", value, query.Filter{Search: value})
	}
	add("signature", strings.Repeat("0", 32), query.Filter{Signature: new(errata.Signature)})
	for _, value := range []string{
		"order", "ÜBERGRÖ", "straße", "путь", "οδος", "ΟΔΟΣ", "café", "cafe\u0301", "50%", "100%", "_", "e_s", `\`, `\_`, `\%`, "'", "o'clock", `"`, "*", "%", "💥", "错误",
		"'; DROP TABLE records; --", "{message:String}", "deadbeef", some.String()[:5], strings.ToUpper(some.String()[:9]), " failed", "<script>", "no such text", "\x00", "\xff", "…",
	} {
		add("search", value, query.Filter{Search: value})
	}
	for name, set := range map[string]func(*query.Filter, string){
		"message":         func(f *query.Filter, s string) { f.Message = s },
		"file":            func(f *query.Filter, s string) { f.File = s },
		"exception_class": func(f *query.Filter, s string) { f.Class = s },
		"request_uri":     func(f *query.Filter, s string) { f.URI = s },
	} {
		for _, value := range textsToFind[name] {
			var f query.Filter
			set(&f, value)
			add(name, value, f)
		}
	}
}

var textsToFind = map[string][]string{
	"message":         {"order*failed", "ORDER", "*off", "%", "_", `\`, `\%`, "straße", "путь*найден", "не*н", "* *1*", "o**o", "*", "οδοσ", "ΟΔ", "cafe\u0301", "'", `"`, "💥*", "xx…", "second line", "no*such"},
	"file":            {".php", "SRC/", "src/*item_1*.php", "größe", "GRÖSSE", "οδος.py", "o'clock", "100%", `"c"`, "lib/win/", `lib\win`, "none"},
	"exception_class": {"error", `App\Order`, `app\*failed`, "ОШИБ", "r*e", "λάθος", "λαθος", "a%b_c", "a_b", `'s\"`, "two lines", "none"},
	"request_uri":     {"/checkout", "100%", "a_b", "/order/*9", "путь", "[Filtered]", "token=x", "it's", "?page=2", "none"},
}

// numbers are the filters with a number or an address.
func (l *ledger) numbers(add adder) {
	for _, id := range append(users, 999, -1) {
		add("user_id", strconv.FormatInt(id, 10), query.Filter{UserID: &id})
	}
	for value, method := range map[string]string{"GET": "GET", "post": "POST", "Patch": "PATCH", "M-SEARCH": "M-SEARCH", "GE": "GE", "%": "%"} {
		add("http_method", value, query.Filter{Method: method})
	}
	for value, prefix := range map[string]string{
		"203.0.113.9": "203.0.113.9/32", "203.0.113.0/24": "203.0.113.0/24", "203.0.113.99/24": "203.0.113.0/24", "10.0.0.0/8": "10.0.0.0/8", "10.0.0.0/9": "10.0.0.0/9",
		"0.0.0.0/0": "0.0.0.0/0", "2001:db8::1": "2001:db8::1/128", "2001:0DB8:0::1": "2001:db8::1/128", "2001:db8::/32": "2001:db8::/32", "2001:db8::/33": "2001:db8::/33",
		"::/0": "::/0", "::1": "::1/128", "::ffff:198.51.100.7": "198.51.100.7/32", "198.51.100.7": "198.51.100.7/32", "192.0.2.1": "192.0.2.1/32", "fe80::/10": "fe80::/10",
	} {
		add("ip", value, query.Filter{IP: netip.MustParsePrefix(prefix)})
	}
	for value, n := range map[string]uint64{"0": 0, "-3": 0, "1": 1, "2": 2, "5": 5, "100": 100, "200": 200, "201": 201, "9223372036854775807": 1<<63 - 1} {
		add("min_occurrence", value, query.Filter{MinOccurrence: n})
	}
}

// dates are ranges of the last sighting, both ends inclusive, in UTC.
func (l *ledger) dates(add adder) {
	const day = 24 * time.Hour
	today := l.now.Truncate(day)
	end := func(first time.Time) time.Time { return first.Add(day - time.Millisecond) }
	from, to := today.Add(-9*day), today.Add(-2*day)
	a, b := from.Format(time.DateOnly), to.Format(time.DateOnly)
	whole := query.Filter{From: from, To: end(to)}
	for _, between := range []string{"..", ",", " - ", " to ", " .. ", " TO "} {
		add("date_range", a+between+b, whole)
	}
	add("date_range", a, query.Filter{From: from, To: end(from)})
	add("date_range", a+"..", query.Filter{From: from})
	add("date_range", ".."+b, query.Filter{To: end(to)})
	add("date_range", a+",", query.Filter{From: from})
	add("date_range", a+".."+a, query.Filter{From: from, To: end(from)})
	add("date_range", "24h", query.Filter{From: l.now.Add(-day)})
	add("date_range", "7d", query.Filter{From: l.now.Add(-7 * day)})
	add("date_range", "today", query.Filter{From: today, To: end(today)})
	add("date_range", "yesterday", query.Filter{From: today.Add(-day), To: today.Add(-time.Millisecond)})
	add("date_range", "1999-12-31", query.Filter{To: time.Unix(0, 0)})

	// The exact times of a record, in several notations.
	at := l.records[len(l.records)/3].LastSeen
	one := query.Filter{From: at, To: at}
	add("date_range", instant(at)+".."+instant(at), one)
	east := time.FixedZone("", 5*3600+1800)
	add("date_range", at.In(east).Format("2006-01-02T15:04:05.000Z07:00")+" to "+instant(at), one)
	add("date_range", instant(at.Add(time.Millisecond))+"..", query.Filter{From: at.Add(time.Millisecond)})
	add("date_range", ".."+instant(at.Add(-time.Millisecond)), query.Filter{To: at.Add(-time.Millisecond)})
	add("date_range", a+".."+instant(at), query.Filter{From: from, To: at})
}
