package contract

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/query"
	"github.com/errata-log/errata/test/querytest"
)

// ledger is a service with records, and a model of them.
type ledger struct {
	*service
	random  *rand.Rand
	records []errata.Record             // by id
	ready   querytest.Ready             // the records at the end
	events  []event                     // the first event of each
	whole   map[errata.Signature]string // the message of the first event
}

// text is a text as it is sent, and as the API shows it.
type text struct{ sent, shown string }

func same(texts ...string) (all []text) {
	for _, t := range texts {
		all = append(all, text{t, t})
	}
	return all
}

// The vocabularies are small, so that fields are equal and filters overlap. A %d
// stands for a number.
var (
	long     = strings.Repeat("длинно é ", 40)
	messages = append(same(
		"Order %d failed", "ORDER %d FAILED: 50%% off", "it's %d o'clock", `say "%d"`, `C:\temp\%d`, `\%d\_`, "under_score %d", "100%% of %d", "%d*",
		"Übergröße in Straße %d", "ÜBERGRÖSSE IN STRASSE %d", "путь %d не найден", "ПУТЬ %d НЕ НАЙДЕН", "ΟΔΟΣ %d", "οδος %d", "Οδοσ %d",
		"cafe\u0301 %d", "caf\u00e9 %d", "数据库错误 %d", "💥 %d 👩🏽", "'; DROP TABLE records; -- %d", "{message:String} %d", "<script>alert(%d)</script> & co", "deadbeef %d", "",
	), text{"first line %d\nsecond line", "first line %d"}, text{"tab\tin %d", "tab in %d"}, text{"bell \x07 and nul \x00 %d", "bell  and nul  %d"},
		text{"line separator\u2028%d", "line separator %d"}, text{long, string([]rune(long)[:199]) + "…"}, text{strings.Repeat("x", 200), strings.Repeat("x", 200)})
	classes = append(same("TypeError", `App\Order\Failed`, "RuntimeException", "Errör_%d", "ошибка", "ΛΑΘΟΣ", "a%%b_c", `it's\"odd`, ""), text{"two\nlines", "two lines"})
	files   = append(same("src/Order.php", "SRC/order.PHP", "src/Cart/Item_%d.php", "lib/größe.go", "lib/ΟΔΟΣ.py", "100%%/o'clock.js", "a b/\"c\".rb", "app.js", ""),
		text{`lib\win\%d.cs`, "lib/win/%d.cs"}, text{"app:///lib/a.js?x=1", "/lib/a.js"})
	uris = append(same("/checkout?page=2", "/Checkout", "/api/100%%25/x", "/a_b", "/order/%d", "/путь", "/it's", ""),
		text{"https://shop.example/login?token=x&page=2#top", "/login?token=[Filtered]&page=2"})
	methods   = append(same("GET", "GET", "POST", "PUT", "DELETE", ""), text{"patch", "PATCH"}, text{"M-SEARCH", ""})
	addresses = append(same("", "203.0.113.9", "203.0.113.77", "10.1.2.3", "10.200.0.1", "2001:db8::1", "2001:db8:8000::1", "::1"),
		text{"::ffff:198.51.100.7", "198.51.100.7"}, text{"2001:0DB8:0:0::0001", "2001:db8::1"}, text{"fe80::1%eth0", ""}, text{"fe80::2", "fe80::2"}, text{"no address", ""})
	levels = append(same("debug", "info", "notice", "warning", "error", "error", "critical", "fatal"),
		text{"WARN", "warning"}, text{"emergency", "fatal"}, text{"alert", "fatal"}, text{"panic", "fatal"}, text{"trace", "debug"}, text{"", "error"})
	users = []int64{0, 0, 1, 7, 7, 42, 1204, 1 << 53, 1<<53 + 1, 1<<63 - 1}
)

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// text replaces the %d, if there is one, by a number.
func (l *ledger) text(from []text) text {
	t, n := pick(l.random, from), l.random.IntN(300)
	fill := func(format string) string {
		if !strings.Contains(format, "%") {
			return format
		}
		return strings.ReplaceAll(strings.ReplaceAll(format, "%d", strconv.Itoa(n)), "%%", "%")
	}
	return text{fill(t.sent), fill(t.shown)}
}

// firstTime is the first time of a client that is believed, when its project keeps records
// for ever. An older time, or one in the future, is replaced by the time of receipt.
var firstTime = time.Date(2001, time.January, 1, 0, 0, 0, 0, time.UTC)

// moment is a time of the last 40 days, as it is sent and as it is stored. Many
// events share one.
func (l *ledger) moment() (sent, kept time.Time) {
	days := l.random.IntN(41) * l.random.IntN(41) / 40
	sent = l.now.Add(-time.Duration(days)*24*time.Hour + time.Duration(l.random.IntN(400)-390)*250*time.Millisecond).Add(789 * time.Microsecond)
	if sent.After(l.now) {
		return sent, l.now
	}
	return sent, sent.Truncate(time.Millisecond)
}

// cleaned makes a message as it is kept of a message as it is sent.
var cleaned = strings.NewReplacer("\x07", "", "\x00", "", "\u2028", " ")

// sight makes the event of a new record, and the record. The fingerprint keeps
// records apart whose fields are all equal.
func (l *ledger) sight(number int) (event, errata.Record) {
	message, class, file, uri := l.text(messages), l.text(classes), l.text(files), l.text(uris)
	for message.shown == "" && class.shown == "" {
		class = l.text(classes)
	}
	method, ip, level := pick(l.random, methods), pick(l.random, addresses), pick(l.random, levels)
	sent, kept := l.moment()
	e := event{
		Book: pick(l.random, []string{"system", "system", "database"}), Level: level.sent, Message: message.sent, Class: class.sent,
		File: file.sent, Line: pick(l.random, []uint32{0, 1, 17, 51, 1 << 31}), URI: uri.sent, Method: method.sent, IP: ip.sent,
		Fingerprint: []string{"record", strconv.Itoa(number)}, Payload: map[string]any{"number": number},
	}.at(sent)
	user := pick(l.random, users)
	e.UserID = strconv.AppendInt(nil, user, 10)
	r := errata.Record{
		Signature: e.signature(), Count: 1, FirstSeen: kept, LastSeen: kept, Message: message.shown, Class: class.shown,
		File: file.shown, Line: e.Line, URI: uri.shown, Method: method.shown, UserID: user, Status: errata.StatusOpen, Project: project,
	}
	if user > 0 {
		r.Users = 1
	}
	l.whole[r.Signature] = cleaned.Replace(message.sent)
	r.Book, _ = errata.ParseBook(e.Book)
	r.Level, _ = errata.ParseLevel(level.shown)
	if ip.shown != "" {
		r.IP = netip.MustParseAddr(ip.shown)
	}
	return e, r
}

// again is another event of a record, with another context, which the record must
// not take over, and another level, which it takes over when that is higher.
func (l *ledger) again(i int) event {
	level := pick(l.random, levels)
	r, e := &l.records[i], event{Book: l.events[i].Book, Fingerprint: l.events[i].Fingerprint, Message: "seen again", Level: level.sent, UserID: json.RawMessage("5")}
	sent, kept := l.moment()
	if r.Count == 1 {
		r.Users++ // nobody else is user 5
	}
	r.Count++
	if seen, _ := errata.ParseLevel(level.shown); seen > r.Level {
		r.Level = seen
	}
	if kept.Before(r.FirstSeen) {
		r.FirstSeen = kept
	}
	if kept.After(r.LastSeen) {
		r.LastSeen = kept
	}
	if r.Status == errata.StatusResolved {
		r.Status, r.Regressed = errata.StatusOpen, true
	}
	return e.at(sent)
}

const (
	records = 5100
	// loud records have up to most events, every tenth of the others up to few.
	loud, most, few = 15, 200, 6
)

// fill sends records, repeats some of them, changes the status of some, and
// repeats some of those again. Then it learns the ids, which grow with the log.
func fill(t *testing.T, s *service) *ledger {
	t.Helper()
	l := &ledger{service: s, random: rand.New(rand.NewPCG(11, 21)), whole: map[errata.Signature]string{}}
	for i := range records {
		e, r := l.sight(i)
		l.events, l.records = append(l.events, e), append(l.records, r)
	}
	s.send(t, l.events...)
	var repeats []event
	for i := range records {
		times := 0
		switch {
		case i == 0:
			times = most - 1
		case i < loud:
			times = l.random.IntN(most)
		case i%10 == 0:
			times = l.random.IntN(few)
		}
		for range times {
			repeats = append(repeats, l.again(i))
		}
	}
	l.random.Shuffle(len(repeats), func(i, j int) { repeats[i], repeats[j] = repeats[j], repeats[i] })
	s.send(t, repeats...)
	l.decide(t, "resolved", errata.StatusResolved, 100, 900)
	l.decide(t, "muted", errata.StatusMuted, 800, 1500)
	repeats = repeats[:0]
	for i := 600; i < 1100; i += 2 { // resolved ones, muted ones and open ones
		repeats = append(repeats, l.again(i))
	}
	s.send(t, repeats...)
	s.settle(t)
	l.learnIDs(t)
	l.ready = querytest.Prepare(l.records, func(r errata.Record) querytest.Seen {
		return querytest.Seen{Message: l.whole[r.Signature]}
	})
	return l
}

// decide changes the status of records.
func (l *ledger) decide(t *testing.T, word string, status errata.Status, from, to int) {
	t.Helper()
	var signatures []string
	for i := from; i < to; i++ {
		signatures = append(signatures, l.records[i].Signature.String())
		l.records[i].Status, l.records[i].Regressed = status, false
	}
	l.want(t, request{method: http.MethodPost, path: statusPath, body: body("signatures", signatures, "status", word)},
		body("count", to-from, "status", string(status), "updated", true))
}

// learnIDs reads all pages in the order of the ids. The records must come in the
// order in which they were sent.
func (l *ledger) learnIDs(t *testing.T) {
	t.Helper()
	var last errata.Position
	for number, i := 1, 0; number != 0; number++ {
		a := l.do(t, request{method: http.MethodGet, path: fmt.Sprintf("%s?order=id&direction=asc&limit=100&page=%d", errorsPath, number)})
		var list struct {
			Data []struct {
				ID        errata.Position
				Signature string
			}
			Meta struct {
				Total int
				Next  int `json:"next_page"`
			}
		}
		if err := json.Unmarshal([]byte(a.body), &list); err != nil || list.Meta.Total != records {
			t.Fatalf("page %d: %d %.1000s, %v, want %d records", number, a.status, a.body, err, records)
		}
		for _, row := range list.Data {
			if row.ID <= last || row.Signature != l.records[i].Signature.String() {
				t.Fatalf("record %d: id %d behind %d, signature %s, want %s", i, row.ID, last, row.Signature, l.records[i].Signature)
			}
			last, l.records[i].ID = row.ID, row.ID
			i++
		}
		if list.Meta.Next == 0 {
			if i != records {
				t.Fatalf("%d records on all pages, want %d", i, records)
			}
			return
		}
	}
}

// selected is the model's list.
func (l *ledger) selected(f query.Filter, order query.Order, direction query.Direction) []errata.Record {
	return l.ready.Select(f, order, direction)
}
