package exchange_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/s2"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/exchange"
	"github.com/errata-log/errata/ingest/door/doortest"
)

func TestBothLogsTheWholeWay(t *testing.T) {
	b := newBench(t)
	w := b.writer(t, nil)
	defer stop(t, w)
	at := noon.Add(-time.Minute).Format(time.RFC3339)
	b.taken(t, exchange.Modules, 1, `{"time":"`+at+`","module":"payment","direction":"OUT","operation":"charge","target":"https://api.pay.example/v1?id=7",
		"status":502,"duration_ms":12.5,"request":{"amount":5,"password":"x"},"response":"no","error":"bad gateway","request_id":"r-1","user_id":"12","ip":"10.1.2.3"}`)
	b.taken(t, exchange.Queries, 2, `{"time":"`+at+`","query":"SELECT * FROM t WHERE id = 7","duration_ms":"3","rows":4,"database":"shop","file":"/srv/app/a.php","line":"9","user_id":12}
{"query":"SELECT 1","connection":{"odd":1},"rows":[],"line":{},"duration_ms":"NaN","time":true,"ip":5,"user_id":"x"}`)
	b.settle(t)

	got := b.texts(t, `SELECT toJSONString(tuple(project, time, received, module, direction, action, target, status, duration_ms, request, response, error,
		request_id, user_id, ip, expires)) FROM module_log FINAL`)
	day := func(days int) string { return noon.AddDate(0, 0, days).Format(time.DateTime) }
	when := func(at time.Time) string { return at.Format("2006-01-02 15:04:05.000") }
	want := []string{fmt.Sprintf(`[7,"%s","%s","payment","out","charge","https:\/\/api.pay.example\/v1?id=[Filtered]","502",12.5,`+
		`"{\"amount\":5,\"password\":\"[Filtered]\"}","no","bad gateway","r-1",12,"::ffff:10.1.2.3","%s"]`, when(noon.Add(-time.Minute)), when(noon), day(14))}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("module_log (-want +got):\n%s", diff)
	}
	got = b.texts(t, `SELECT toJSONString(tuple(project, time, query, duration_ms, rows, connection, file, line, error, user_id, ip, entry, expires))
		FROM query_log FINAL ORDER BY entry`)
	want = []string{
		fmt.Sprintf(`[7,"%s","SELECT * FROM t WHERE id = ?",3,4,"shop","a.php",9,"",12,"::",0,"%s"]`, when(noon.Add(-time.Minute)), day(7)),
		fmt.Sprintf(`[7,"%s","SELECT ?",0,0,"","",0,"",0,"::",1,"%s"]`, when(noon), day(7)),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("query_log (-want +got):\n%s", diff)
	}
}

func TestSwitches(t *testing.T) {
	b := newBench(t)
	const two = `[{"module":"m","query":"q","ip":"10.0.0.1"},{"module":"m","query":"q"}]`
	b.switches = errata.Logging{}
	b.taken(t, exchange.Modules, 0, two)
	b.taken(t, exchange.Queries, 0, two)
	b.switches = errata.Logging{ModuleLog: true}
	b.taken(t, exchange.Modules, 2, two)
	b.taken(t, exchange.Queries, 0, two)
	if n := b.waiting(t); n != 1 {
		t.Errorf("%d requests on the stream, want 1", n)
	}
	// The second entry has no address and gets the sender's, 203.0.113.9.
	b.switches = errata.Logging{QueryLogging: true, QueryLoggingIPs: []netip.Prefix{local}}
	b.taken(t, exchange.Modules, 0, two)
	b.taken(t, exchange.Queries, 1, two)
	b.switches.QueryLoggingIPs = []netip.Prefix{netip.MustParsePrefix("203.0.113.9/32")}
	b.taken(t, exchange.Queries, 1, two)
	b.switches.QueryLoggingIPs = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}
	b.taken(t, exchange.Queries, 0, two)
	if n := b.waiting(t); n != 3 {
		t.Errorf("%d requests on the stream, want 3", n)
	}
	b.taken(t, exchange.Queries, 0, `{"query":"q"} {"query":5} {"query":"q"}`)
	counted := doortest.Counters(b.registry)
	for name, want := range map[string]float64{
		"modules recorded": 2, "modules switched_off": 4, "queries recorded": 2, "queries switched_off": 4, "queries address": 2 + 2 + 2, "queries rejected": 1,
	} {
		if got := counted["errata_exchange_entries_total "+name]; got != want {
			t.Errorf("%s: %v counted, want %v", name, got, want)
		}
	}
	w := b.writer(t, nil)
	defer stop(t, w)
	b.settle(t)
	if got := b.texts(t, "SELECT toString(ip) FROM query_log FINAL ORDER BY ip"); !cmp.Equal(got, []string{"::", "::ffff:10.0.0.1"}) {
		t.Errorf("query_log has the addresses %q", got)
	}
}

// secret stands in every field. Its number is that of a card, which is a secret in
// every field, as is the token.
const (
	secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	card   = "4111111111111111"
)

func TestSecretsReachNeitherStreamNorTable(t *testing.T) {
	b := newBench(t)
	fields := []string{
		"time", "module", "direction", "action", "operation", "target", "status", "duration_ms", "request", "response", "error", "request_id", "user_id", "ip",
		"query", "rows", "connection", "database", "file", "line", "unknown",
	}
	values := []any{
		secret, "a " + secret + " b", card, map[string]any{"token": "5ec7e7ab-x", "deep": []any{map[string]any{"x": secret}}}, []any{secret, card},
		`{"password":"5ec7e7ab-x"}`, "password=5ec7e7ab-x&a=b", "https://ann:5ec7e7ab-x@h.example/a?token=5ec7e7ab-x",
		strings.Repeat("long ", 3270) + secret, strings.Repeat("é", 8150) + " " + secret + " " + strings.Repeat("x", 900),
		`{"a":"` + strings.Repeat("x", 16300) + `","password":"5ec7e7ab-x"}`,
	}
	sent := 0
	for _, log := range []exchange.Log{exchange.Modules, exchange.Queries} {
		for _, value := range values {
			for _, field := range fields {
				e := map[string]any{"module": "m", "query": "SELECT '5ec7e7ab-x', " + card, "error": "near '5ec7e7ab-x', " + card}
				if log == exchange.Modules {
					delete(e, "error")
				}
				e[field] = value
				if field == "query" {
					e["query"] = fmt.Sprint("SELECT * FROM t WHERE a = '", value, "'")
					e["error"] = fmt.Sprint("near '", value, "'")
				}
				text, err := json.Marshal(e)
				if err != nil {
					t.Fatal(err)
				}
				if b.post(t, log, string(text)).Data.Recorded == 1 {
					sent++
				}
			}
		}
	}
	b.noSecrets(t, sent)
}

// noSecrets checks all messages on the stream and then all rows of the tables.
func (b *bench) noSecrets(t *testing.T, sent int) {
	t.Helper()
	check := func(where, text string) {
		t.Helper()
		for _, planted := range []string{secret, card, "5ec7e7ab", secret[:12], "4a\""} {
			if at := strings.Index(text, planted); at >= 0 {
				t.Errorf("%s has %q: …%s", where, planted, text[max(0, at-60):min(len(text), at+60)])
			}
		}
	}
	s, err := b.JetStream.Stream(t.Context(), b.stream.Name)
	if err != nil {
		t.Fatal(err)
	}
	state := s.CachedInfo().State
	if state.Msgs != uint64(sent) || sent < 300 {
		t.Fatalf("%d requests on the stream, want %d and many", state.Msgs, sent)
	}
	for seq := state.FirstSeq; seq <= state.LastSeq; seq++ {
		msg, err := s.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		text, err := s2.Decode(nil, msg.Data)
		if err != nil {
			t.Fatal(err)
		}
		check(fmt.Sprintf("message %d", seq), string(text))
	}
	w := b.writer(t, nil)
	defer stop(t, w)
	b.settle(t)
	for _, table := range []string{"module_log", "query_log"} {
		for _, row := range b.texts(t, "SELECT toJSONString(tuple(*)) FROM "+table) {
			check(table, row)
		}
	}
}

func TestLongTextsAreCutAndMarked(t *testing.T) {
	b := newBench(t)
	long := strings.Repeat("word ", 10_000)
	b.taken(t, exchange.Modules, 1, fmt.Sprintf(`{"module":%q,"request":%q,"response":{"a":%q},"error":%q,"action":%q}`, long, long, long, long, long))
	b.taken(t, exchange.Queries, 1, fmt.Sprintf(`{"query":%q}`, "SELECT "+long))
	b.taken(t, exchange.Modules, 1, `{"module":"m","request":{"a":`+strings.Repeat("[", 70)+strings.Repeat("]", 70)+`}}`)
	w := b.writer(t, nil)
	defer stop(t, w)
	b.settle(t)
	got := b.texts(t, `SELECT toString([length(module), length(request), length(response), length(error), length(action)]) FROM module_log FINAL WHERE module != 'm'
		AND endsWith(module, '…') AND endsWith(request, '…') AND endsWith(error, '…') AND endsWith(action, '…')
		UNION ALL SELECT toString([length(query)]) FROM query_log FINAL WHERE endsWith(query, '…')`)
	if len(got) != 2 {
		t.Fatalf("%q, want the lengths in both tables", got)
	}
	t.Log(got)
	if got := b.texts(t, "SELECT request FROM module_log FINAL WHERE module = 'm'"); len(got) != 1 || !strings.HasPrefix(got[0], "[not kept") {
		t.Errorf("a request that is too deep became %q", got)
	}
}
