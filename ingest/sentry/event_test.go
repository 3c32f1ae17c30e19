package sentry_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door/doortest"
)

// draft sends one event and returns its draft.
func draft(t *testing.T, document string) ingest.Draft {
	t.Helper()
	h, recorder := newHandler(t)
	w := post(h, storeURL, document)
	drafts := recorder.Take()
	if w.Code != 200 || len(drafts) != 1 {
		t.Fatalf("%s: %d %s, %d drafts", document, w.Code, w.Body, len(drafts))
	}
	return drafts[0]
}

// facts is a table of events and the value that their drafts must have.
func facts(t *testing.T, read func(ingest.Draft) string, table ...string) {
	t.Helper()
	for i := 0; i+1 < len(table); i += 2 {
		if got := read(draft(t, table[i])); got != table[i+1] {
			t.Errorf("%s\n got %s\nwant %s", table[i], got, table[i+1])
		}
	}
}

func TestExceptionShapes(t *testing.T) {
	read := func(d ingest.Draft) string {
		handled := "?"
		if h := d.Context.Handled; h != nil {
			handled = fmt.Sprint(*h)
		}
		return fmt.Sprintf("%s|%s|%d links|handled %s", d.Class, d.Message, len(d.Context.Exceptions), handled)
	}
	const cause, thrown = `{"type":"KeyError","value":"sku"}`, `{"type":"OrderError","value":"order 42","mechanism":{"handled":false}}`
	facts(t, read,
		`{"exception":{"values":[`+cause+`,`+thrown+`]}}`, "OrderError|order 42|2 links|handled false",
		`{"exception":[`+cause+`,`+thrown+`]}`, "OrderError|order 42|2 links|handled false",
		`{"exception":`+thrown+`}`, "OrderError|order 42|1 links|handled false",
		`{"sentry.interfaces.Exception":{"values":[`+thrown+`]}}`, "OrderError|order 42|1 links|handled false",
		`{"exception":{"values":`+thrown+`}}`, "OrderError|order 42|1 links|handled false",
		`{"exception":{"type":"E","value":"m","values":null}}`, "E|m|1 links|handled ?",
		`{"exception":{"exc_omitted":null,"values":[null,`+cause+`,7,[]],"type":"ignored"}}`, "KeyError|sku|1 links|handled ?",
		`{"exception":[`+cause+`],"exception":[`+thrown+`]}`, "OrderError|order 42|1 links|handled false",
		`{"exception":null,"message":"m"}`, "|m|0 links|handled ?",
		`{"exception":[],"message":"m"}`, "|m|0 links|handled ?",
		`{"exception":{},"message":"m"}`, "|m|0 links|handled ?",
		`{"exception":{"values":null},"message":"m"}`, "|m|0 links|handled ?",
		`{"exception":"text","message":"m"}`, "|m|0 links|handled ?",
		`{"exception":[{"type":7,"value":true,"mechanism":"x"}]}`, "7|true|1 links|handled ?",
		`{"exception":[{"type":{"a":1},"value":["x"]}],"message":"m"}`, "|m|0 links|handled ?",
		`{"exception":[{"type":"E","value":null}],"message":"m"}`, "E|m|1 links|handled ?",
		`{"exception":[{"type":"Error","value":"m","mechanism":{"synthetic":true}}]}`, "|m|1 links|handled ?",
		`{"exception":[`+strings.Repeat(cause+",", 14)+thrown+`]}`, "OrderError|order 42|10 links|handled false",
	)
}

func TestGoWrappersAreNoClass(t *testing.T) {
	read := func(d ingest.Draft) string { return d.Class + "|" + d.Message }
	chain := func(types ...string) string {
		var links []string
		for _, name := range types {
			links = append(links, fmt.Sprintf(`{"type":%q,"value":"in %s"}`, name, name))
		}
		return `{"exception":[` + strings.Join(links, ",") + `]}`
	}
	facts(t, read,
		chain("*main.OrderError", "*fmt.wrapError"), "*main.OrderError|in *fmt.wrapError",
		chain("*pq.Error", "*main.OrderError", "*fmt.wrapError", "*errors.joinError"), "*main.OrderError|in *errors.joinError",
		chain("*errors.errorString", "*fmt.wrapError"), "*fmt.wrapError|in *fmt.wrapError",
		chain("*errors.withStack"), "*errors.withStack|in *errors.withStack",
		chain("*errors.errorString", "*main.OrderError"), "*main.OrderError|in *main.OrderError",
	)
}

func TestMessages(t *testing.T) {
	read := func(d ingest.Draft) string { return d.Message + " <- " + d.Template }
	facts(t, read,
		`{"message":"queue is full"}`, "queue is full <- queue is full",
		`{"message":17}`, "17 <- 17",
		`{"message":null}`, " <- ",
		`{"message":["x"]}`, " <- ",
		`{"message":{"message":"paid %s","params":["a"],"formatted":"paid a!"}}`, "paid a! <- paid %s",
		`{"message":{"formatted":"paid a"}}`, "paid a <- ",
		`{"logentry":{"message":"payment failed for %s","params":[77]}}`, "payment failed for 77 <- payment failed for %s",
		`{"logentry":{"message":"x","params":null},"message":"y"}`, "x <- x",
		`{"logentry":{"params":[1]},"message":"y"}`, "y <- y",
		`{"logentry":"plain"}`, "plain <- plain",
		`{"logentry":{"message":"%s of %d at %5.2f%%, %r","params":["a",2,3.5,null]}}`, "a of 2 at 3.5%, null <- %s of %d at %5.2f%%, %r",
		`{"logentry":{"message":"%(who)s and %(no)s","params":{"who":"bob"}}}`, "bob and %(no)s <- %(who)s and %(no)s",
		`{"logentry":{"message":"%s %s","params":["one"]}}`, "one %s <- %s %s",
		`{"logentry":{"message":"100% of {0}","params":["one"]}}`, "100% of one <- 100% of {0}",
		`{"logentry":{"message":"user {0} in {1:N2} {2}","params":["bob",{"a":1}]}}`, `user bob in {"a":1} {2} <- user {0} in {1:N2} {2}`,
		`{"logentry":{"message":"{} then {who}","params":["a"]}}`, "a then {who} <- {} then {who}",
		`{"logentry":{"message":"{who}","params":{"who":"bob"}}}`, "bob <- {who}",
		`{"logentry":{"message":"hi %s","params":"bob"}}`, "hi bob <- hi %s",
		`{"logentry":{"message":"%","params":["a"]}}`, "% <- %",
		`{"logentry":{"message":"{","params":["a"]}}`, "{ <- {",
		`{"logentry":{"message":"%(","params":["a"]}}`, "%( <- %(",
	)
	long := draft(t, `{"message":"`+strings.Repeat("é", 80000)+`"}`)
	if len(long.Message) <= ingest.MaxMessage || len(long.Message) > 2*ingest.MaxMessage {
		t.Errorf("a long message has %d bytes: the pipeline must still see that it is cut", len(long.Message))
	}
}

func TestPlaces(t *testing.T) {
	read := func(d ingest.Draft) string { return fmt.Sprintf("%s:%d", d.File, d.Line) }
	const lib, app = `{"filename":"lib.go","lineno":1,"in_app":false}`, `{"filename":"app.go","lineno":2,"in_app":true}`
	stack := func(frames ...string) string { return `"stacktrace":{"frames":[` + strings.Join(frames, ",") + `]}` }
	facts(t, read,
		`{"exception":[{"type":"E",`+stack(app, lib)+`}]}`, "app.go:2",
		`{"exception":[{"type":"E",`+stack(lib, lib)+`}]}`, "lib.go:1",
		`{"exception":[{"type":"C",`+stack(app)+`},{"type":"E"}]}`, "app.go:2",
		`{"exception":[{"type":"E"}],`+stack(app)+`}`, "app.go:2",
		`{"message":"m",`+stack(app, lib)+`}`, "app.go:2",
		`{"message":"m","threads":[{`+stack(lib)+`},{`+stack(app)+`,"current":true}]}`, "app.go:2",
		`{"message":"m","threads":{"values":[{"current":true,`+stack(app)+`},{`+stack(lib)+`,"crashed":true}]}}`, "lib.go:1",
		`{"message":"m","threads":[{`+stack(app)+`}],`+stack(lib)+`}`, "lib.go:1",
		`{"exception":[{"type":"E",`+stack(`{"abs_path":"/srv/x.go","lineno":"17"}`)+`}]}`, "/srv/x.go:17",
		`{"exception":[{"type":"E",`+stack(`{"filename":"","abs_path":"/srv/x.go"}`)+`}]}`, "/srv/x.go:0",
		`{"exception":[{"type":"E",`+stack(`{"module":"pkg.mod","lineno":3.0}`)+`}]}`, "pkg.mod:3",
		`{"exception":[{"type":"E",`+stack(`{"filename":null,"lineno":null}`, `null`, `7`)+`}]}`, ":0",
		`{"exception":[{"type":"E","stacktrace":null}]}`, ":0",
		`{"exception":[{"type":"E","stacktrace":{"frames":{}}}]}`, ":0",
		`{"message":"m"}`, ":0",
		// sentry-go sets in_app for the frames of every dependency, and for none
		// in a binary built with -trimpath; raven-go for none when it recovers.
		`{"exception":[{"type":"E",`+stack(app, `{"abs_path":"/go/pkg/mod/github.com/lib/pq@v1.10.9/conn.go","lineno":3,"module":"github.com/lib/pq","in_app":true}`)+`}]}`, "app.go:2",
		`{"exception":[{"type":"E",`+stack(`{"abs_path":"example.com/shop/cart.go","lineno":4,"module":"example.com/shop","in_app":false}`,
			`{"abs_path":"internal/runtime/maps/table.go","lineno":5,"module":"internal/runtime/maps","in_app":false}`)+`}]}`, "example.com/shop/cart.go:4",
	)
	if d := draft(t, `{"message":"m",`+stack(app)+`}`); len(d.Context.Exceptions) != 1 || len(d.Context.Exceptions[0].Frames) != 1 {
		t.Errorf("the stack trace of a message is lost: %+v", d.Context.Exceptions)
	}
	d := draft(t, `{"exception":[{"type":"E",`+stack(strings.Repeat(lib+",", 5000)+app)+`}]}`)
	if n := len(d.Context.Exceptions[0].Frames); n != ingest.MaxFrames || d.File != "app.go" {
		t.Errorf("%d frames kept, at %s", n, d.File)
	}
}

func TestRequests(t *testing.T) {
	read := func(d ingest.Draft) string { return d.Method + " " + d.URI }
	facts(t, read,
		`{"request":{"url":"http://x.test/a","method":"post","query_string":"b=1"}}`, "POST http://x.test/a?b=1",
		`{"request":{"url":"http://x.test/a","query_string":"?b=1"}}`, " http://x.test/a?b=1",
		`{"request":{"url":"http://x.test/a?c=2#top","query_string":"b=1"}}`, " http://x.test/a?c=2",
		`{"request":{"url":"/a#top","query_string":{"b":"1 2","c":["3","4"],"d":null}}}`, " /a?b=1+2&c=3",
		`{"request":{"url":"/a","query_string":[["b","1"],["c",2],["d"],"e",["f","g","h"]]}}`, " /a?b=1&c=2&f=g",
		`{"request":{"url":"/a","query_string":null}}`, " /a",
		`{"request":{"query_string":"b=1"}}`, " ",
		`{"request":{"url":7,"method":{}}}`, " 7",
		`{"request":null}`, " ",
		`{"request":[]}`, " ",
		`{"sentry.interfaces.Http":{"url":"/a","method":"GET"}}`, "GET /a",
	)
	many := draft(t, `{"request":{"url":"/a","query_string":[`+strings.Repeat(`["k","v"],`, 5000)+`["z","z"]]}}`)
	if n := strings.Count(many.URI, "k=v"); n != 200 {
		t.Errorf("%d pairs of a query were kept", n)
	}
}

func TestAddresses(t *testing.T) {
	read := func(d ingest.Draft) string {
		if !d.IP.IsValid() {
			return "none"
		}
		return d.IP.String()
	}
	const env = `"request":{"env":{"REMOTE_ADDR":"198.51.100.7"}}`
	facts(t, read,
		`{"user":{"ip_address":"203.0.113.9"},`+env+`}`, "203.0.113.9",
		`{"user":{"ip_address":"::ffff:203.0.113.9"}}`, "203.0.113.9",
		`{"user":{"ip_address":"{{auto}}"},`+env+`}`, "192.0.2.99",
		`{"user":{"ip_address":"{{auto}}"},"sdk":{"settings":{"infer_ip":"never"}}}`, "none",
		`{"sdk":{"settings":{"infer_ip":"auto"}},`+env+`}`, "192.0.2.99",
		`{"platform":"javascript"}`, "192.0.2.99",
		`{"platform":"javascript","sdk":{"settings":{"infer_ip":"never"}}}`, "none",
		`{"platform":"node"}`, "none",
		`{`+env+`}`, "198.51.100.7",
		`{"request":{"env":{"REMOTE_ADDR":"198.51.100.7:4000"}}}`, "198.51.100.7",
		`{"user":{"ip_address":"here"},`+env+`}`, "198.51.100.7",
		`{"user":{"ip_address":7}}`, "none",
		`{"user":"bob"}`, "none",
	)
}

func TestLevelsTimesAndBooks(t *testing.T) {
	facts(t, func(d ingest.Draft) string { return d.Level.String() },
		`{"level":"error"}`, "error", `{"level":"FATAL"}`, "fatal", `{"level":"warn"}`, "warning", `{"level":"log"}`, "info", `{"level":"trace"}`, "debug",
		`{"level":"alert"}`, "fatal", `{"level":50}`, "fatal", `{"level":"40"}`, "error", `{"level":30}`, "warning", `{"level":20}`, "info", `{"level":10}`, "debug",
		`{"level":0}`, "", `{"level":"loud"}`, "", `{"level":null}`, "", `{}`, "", `{"level":{}}`, "", `{"level":"`+strings.Repeat("x", 99)+`"}`, "")
	facts(t, func(d ingest.Draft) string { return d.Time.Format("2006-01-02T15:04:05.999999999") },
		`{"timestamp":"2026-11-21T03:18:40.608610492Z"}`, "2026-11-21T03:18:40.608610492",
		`{"timestamp":"2026-11-21T03:18:40"}`, "2026-11-21T03:18:40",
		`{"timestamp":1795231120.5}`, "2026-11-21T03:18:40.5", `{"timestamp":"1795231120.5"}`, "2026-11-21T03:18:40.5",
		`{"timestamp":"soon"}`, "0001-01-01T00:00:00", `{"timestamp":null}`, "0001-01-01T00:00:00", `{}`, "0001-01-01T00:00:00")
	facts(t, func(d ingest.Draft) string { return d.Book.String() + " " + fmt.Sprint(d.Context.Tags) },
		`{"tags":{"book":"database","n":1,"b":true,"x":null,"o":{}}}`, "database [{book database} {n 1} {b true}]",
		`{"tags":[["book","System"],["k","v"],["short"],null]}`, "system [{book System} {k v}]",
		`{"tags":{"book":"diary"}}`, " [{book diary}]", `{"tags":"x"}`, " []", `{"tags":null}`, " []")
	facts(t, func(d ingest.Draft) string { return strings.Join(d.Fingerprint, ",") },
		`{"fingerprint":["{{ default }}","a"]}`, "{{ default }},a", `{"fingerprint":["a",2,null,{}]}`, "a,2", `{"fingerprint":"a"}`, "a", `{"fingerprint":{}}`, "")
	facts(t, func(d ingest.Draft) string { return d.UserID },
		`{"user":{"id":1204}}`, "1204", `{"user":{"id":"u-77"}}`, "u-77", `{"user":{"id":99999999999999999999}}`, "99999999999999999999",
		`{"user":{"id":1204.0}}`, "1204", `{"user":{"id":1.204e3}}`, "1204", `{"user":{"id":1204.5}}`, "1204.5", `{"user":{"id":"1204.0"}}`, "1204.0", `{"user":{"id":{}}}`, "")
	facts(t, func(d ingest.Draft) string { return d.ClientID },
		`{"event_id":"6DC715AB-B89B-4F66-94FF-46AE15F7DFB8"}`, "6dc715abb89b4f6694ff46ae15f7dfb8",
		`{"event_id":"6DC715AB-B89B-4F66-94FF+46AE15F7DFB8"}`, "00000000000000000000000000000001",
		`{"event_id":"short"}`, "00000000000000000000000000000001", `{"event_id":17}`, "00000000000000000000000000000001")
	facts(t, func(d ingest.Draft) string { return fmt.Sprint(d.Context.Headers) },
		`{"request":{"headers":{"Host":["a","b"],"N":1,"X":{}}}}`, "[{Host a} {N 1}]", `{"request":{"headers":[["Host","a"],["Accept",["x","y"]]]}}`, "[{Host a} {Accept x}]")
	facts(t, func(d ingest.Draft) string {
		c := d.Context
		return strings.Join([]string{c.SDK, c.Runtime, c.OS, c.TraceID, c.SpanID, c.Transaction, c.Logger, c.Platform, c.ServerName}, "|")
	}, `{"sdk":{"name":"s","version":1},"contexts":{"runtime":{"name":"go","version":"go1.26"},"os":{"name":"Debian","version":"12.11\n"},"trace":{"trace_id":"t","span_id":"s"},"device":{}},`+
		`"transaction":"T","culprit":"C","logger":"L","platform":"go","server_name":"web-1"}`, "s/1|go1.26|Debian 12.11|t|s|T|L|go|web-1",
		`{"contexts":{"browser":{"name":"Firefox","version":"140"}},"culprit":"C"}`, "|Firefox 140||||C|||",
		`{"contexts":[],"sdk":"x"}`, "||||||||")
}

// The whole draft of a recorded event, as a readable file.
func TestWholeDrafts(t *testing.T) {
	for _, name := range []string{"sentry-node-exception", "sentry-python-store-gzip", "sentry-go-message-panic"} {
		h, recorder := newHandler(t)
		h.ServeHTTP(&nullWriter{header: map[string][]string{}}, replay(t, recordings(t, name+".http")[0]))
		drafts := recorder.Take()
		if len(drafts) != 1 {
			t.Fatalf("%s: %d drafts", name, len(drafts))
		}
		text, err := json.MarshalIndent(drafts[0], "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "cookies") {
			t.Errorf("%s keeps cookies", name)
		}
		compareGolden(t, name+".draft.json", string(text)+"\n")
	}
}

func TestLongMessageIsWhole(t *testing.T) {
	for _, form := range []string{
		`{"message":%s}`, `{"logentry":{"formatted":%s}}`, `{"logentry":{"message":"dump: %%s","params":[%s]}}`,
		`{"exception":{"values":[{"type":"E","value":%s}]}}`,
	} {
		doortest.LongMessage(t, true, func(message string) ingest.Draft {
			text, err := json.Marshal(message)
			if err != nil {
				t.Fatal(err)
			}
			d := draft(t, fmt.Sprintf(form, text))
			d.Message = strings.TrimPrefix(d.Message, "dump: ")
			return d
		})
	}
}

func TestLongMessageOfALogIsWhole(t *testing.T) {
	for _, form := range []string{
		`{"items":[{"level":"error","body":%s}]}`,
		`{"items":[{"level":"error","attributes":{"exception.message":{"value":%s,"type":"string"}}}]}`,
	} {
		doortest.LongMessage(t, true, func(message string) ingest.Draft {
			text, err := json.Marshal(message)
			if err != nil {
				t.Fatal(err)
			}
			payload := fmt.Sprintf(form, text)
			h, recorder := newHandler(t)
			w := post(h, envelopeURL, fmt.Sprintf("{}\n{\"type\":\"log\",\"length\":%d}\n%s\n", len(payload), payload))
			drafts := recorder.Take()
			if w.Code != 200 || len(drafts) != 1 {
				t.Fatalf("%d %s, %d drafts", w.Code, w.Body, len(drafts))
			}
			return drafts[0]
		})
	}
}
