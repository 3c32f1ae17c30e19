package otlp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/easyproto"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door/doortest"
)

// logDrafts sends one log record as JSON and returns its drafts.
func logDrafts(t *testing.T, record string) []ingest.Draft {
	t.Helper()
	h, recorder := newHandler(t)
	w := post(h, "/v1/logs", jsonText, []byte(`{"resource_logs":[{"scope_logs":[{"log_records":[`+record+`]}]}]}`))
	if w.Code != 200 {
		t.Fatalf("%s: %d %s", record, w.Code, w.Body)
	}
	return recorder.Take()
}

func attrs(pairs ...string) string {
	var all []string
	for i := 0; i+1 < len(pairs); i += 2 {
		all = append(all, fmt.Sprintf(`{"key":%q,"value":%s}`, pairs[i], pairs[i+1]))
	}
	return `"attributes":[` + strings.Join(all, ",") + `]`
}

func str(text string) string { return fmt.Sprintf(`{"stringValue":%q}`, text) }

func TestWhichRecordsCountAndTheirLevels(t *testing.T) {
	exception := attrs("exception.type", str("E"))
	for record, want := range map[string]string{
		`{"severityNumber":17}`: "error", `{"severityNumber":20}`: "error", `{"severityNumber":21}`: "fatal", `{"severityNumber":99}`: "fatal",
		`{"severityNumber":"SEVERITY_NUMBER_ERROR3"}`: "error", `{"severityNumber":"SEVERITY_NUMBER_FATAL"}`: "fatal", `{"severity_number":"17"}`: "error",
		`{"severityNumber":16}`: "", `{"severityNumber":"SEVERITY_NUMBER_WARN4"}`: "", `{"severityNumber":"SEVERITY_NUMBER_LOUD"}`: "", `{}`: "", `{"severityText":"loud"}`: "",
		`{"severityText":"ERROR"}`: "error", `{"severityText":"Fatal"}`: "fatal", `{"severityText":"warn"}`: "", `{"severityText":"ERROR","severityNumber":9}`: "",
		`{` + exception + `}`: "error", `{"severityNumber":13,` + exception + `}`: "warning", `{"severityNumber":9,` + exception + `}`: "info",
		`{"severityNumber":1,` + exception + `}`: "debug", `{"severityText":"debug",` + exception + `}`: "debug", `{"severityText":"loud",` + exception + `}`: "error",
		`{` + attrs("exception.message", str("m")) + `}`: "error", `{` + attrs("exception.stacktrace", str("s")) + `}`: "",
		`{"eventName":"exception"}`: "", `null`: "", `7`: "",
	} {
		got := ""
		for _, d := range logDrafts(t, record) {
			got += d.Level.String()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", record, got, want)
		}
	}
}

func TestFieldsOfARecord(t *testing.T) {
	read := func(d ingest.Draft) string {
		return fmt.Sprintf("%s|%s|%s:%d|%s %s|%s|%s|%s", d.Class, d.Message, d.File, d.Line, d.Method, d.URI, d.UserID, d.IP, d.Book)
	}
	f := func(record, want string) {
		t.Helper()
		drafts := logDrafts(t, `{"severityNumber":17,`+record+`}`)
		if len(drafts) != 1 || read(drafts[0]) != want {
			t.Errorf("%s\n got %v\nwant %s", record, drafts, want)
		}
	}
	const none = ":0| |"
	f(`"body":{"stringValue":"b"}`, "|b|"+none+"|invalid IP|")
	f(`"body":{"stringValue":"b"},`+attrs("exception.message", str("m")), "|m|"+none+"|invalid IP|")
	f(`"body":{"stringValue":"b"},`+attrs("exception.type", str("E")), "E|b|"+none+"|invalid IP|")
	f(`"body":{"kvlistValue":{"values":[{"key":"a","value":{"intValue":"1"}},{"key":"b","value":{"arrayValue":{"values":[{"boolValue":true},{},{"doubleValue":1.5},{"bytesValue":"aGk="}]}}}]}}`,
		`|{"a":1,"b":[true,null,1.5,"aGk="]}|`+none+"|invalid IP|")
	f(`"body":{"intValue":7}`, "|7|"+none+"|invalid IP|")
	f(`"body":{"bytesValue":"-_8"}`, "|+/8=|"+none+"|invalid IP|")
	f(`"body":{"bytesValue":"%"}`, "||"+none+"|invalid IP|")
	f(`"body":{"doubleValue":"1e3"}`, "|1000|"+none+"|invalid IP|")
	f(`"body":"text"`, "||"+none+"|invalid IP|")
	f(attrs("code.file.path", str("/a.go"), "code.line.number", `{"intValue":"7"}`), "||/a.go:7| ||invalid IP|")
	f(attrs("code.filepath", str("/a.go"), "code.lineno", str("8")), "||/a.go:8| ||invalid IP|")
	f(attrs("exception.stacktrace", str("E: m\n    at f (/srv/x.js:3:1)\n")), "||/srv/x.js:3| ||invalid IP|")
	f(attrs("exception.stacktrace", str("E: m\n    at f (/srv/x.js:3:1)\n"), "code.file.path", str("/a.go")), "||/a.go:0| ||invalid IP|")
	f(attrs("url.path", str("/p"), "url.query", str("a=1"), "http.request.method", str("post")), "||:0|POST /p?a=1||invalid IP|")
	f(attrs("http.target", str("/t?x"), "http.method", str("GET"), "url.full", str("http://x.test/f")), "||:0|GET /t?x||invalid IP|")
	f(attrs("url.full", str("http://x.test/f?a")), "||:0| http://x.test/f?a||invalid IP|")
	f(attrs("user.id", `{"intValue":"1204"}`, "client.address", str("203.0.113.9")), "||:0| |1204|203.0.113.9|")
	f(attrs("enduser.id", str("u"), "http.client_ip", str("[2001:db8::1]:80")), "||:0| |u|2001:db8::1|")
	f(attrs("error.book", str("database")), "||"+none+"|invalid IP|database")
	f(attrs("db.system.name", str("postgresql")), "||"+none+"|invalid IP|database")
	f(attrs("db.system", str("mysql"), "error.book", str("system")), "||"+none+"|invalid IP|system")
	f(attrs("exception.type", `{"arrayValue":{"values":[]}}`, "user.id", `null`, "code.lineno", `{"boolValue":true}`), "[]||"+none+"|invalid IP|")
}

// Some SDKs send an attribute by its old and by its new name. The new name counts,
// in both orders.
func TestNewNamesBeforeOldOnes(t *testing.T) {
	pairs := [][]string{
		{"code.file.path", str("/new.go"), "code.filepath", str("/old.go")}, {"code.line.number", `{"intValue":1}`, "code.lineno", `{"intValue":2}`},
		{"http.request.method", str("GET"), "http.method", str("POST")}, {"client.address", str("192.0.2.1"), "http.client_ip", str("192.0.2.2")},
		{"user.id", str("1"), "enduser.id", str("2")}, {"url.full", str("/new"), "http.url", str("/old")},
	}
	const want = "/new.go:1 GET /new 1 192.0.2.1"
	for _, oldFirst := range []bool{false, true} {
		var all []string
		for _, p := range pairs {
			if oldFirst {
				p = []string{p[2], p[3], p[0], p[1]}
			}
			all = append(all, p...)
		}
		d := logDrafts(t, `{"severityNumber":17,`+attrs(all...)+`}`)[0]
		if got := fmt.Sprintf("%s:%d %s %s %s %s", d.File, d.Line, d.Method, d.URI, d.UserID, d.IP); got != want {
			t.Errorf("old first %v: %s, want %s", oldFirst, got, want)
		}
	}
	for _, order := range [][]string{{"deployment.environment.name", str("new"), "deployment.environment", str("old")}, {"deployment.environment", str("old"), "deployment.environment.name", str("new")}} {
		h, recorder := newHandler(t)
		post(h, "/v1/logs", jsonText, []byte(`{"resourceLogs":[{"resource":{`+attrs(order...)+`},"scopeLogs":[{"logRecords":[{"severityNumber":17}]}]}]}`))
		if got := recorder.Take()[0].Context.Environment; got != "new" {
			t.Errorf("%v: environment %s", order, got)
		}
	}
}

// code.* on a span is the place where the span began, not that of the exception.
func TestPlaceOfASpanEventIsFromItsStack(t *testing.T) {
	code := []string{"code.file.path", str("/srv/router.go"), "code.lineno", `{"intValue":7}`}
	for stack, want := range map[string]string{"E: m\n    at f (/srv/x.js:3:1)\n": "/srv/x.js:3", "": ":0"} {
		h, recorder := newHandler(t)
		w := post(h, "/v1/traces", jsonText, []byte(`{"resourceSpans":[{"scopeSpans":[{"spans":[{`+attrs(code...)+`,"events":[{"name":"exception",`+
			attrs("exception.type", str("E"), "exception.stacktrace", str(stack))+`}]}]}]}]}`))
		drafts := recorder.Take()
		if len(drafts) != 1 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if got := fmt.Sprintf("%s:%d", drafts[0].File, drafts[0].Line); got != want || len(drafts[0].Context.Tags) != 2 {
			t.Errorf("%q: %s, tags %v, want %s", stack, got, drafts[0].Context.Tags, want)
		}
	}
}

func TestContextOfARecord(t *testing.T) {
	h, recorder := newHandler(t)
	request := `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0AF7651916CD43DD8448EB211C80319C","spanId":"b7ad6b7169203331","name":"GET /x",` +
		`"events":[{"name":"exception","timeUnixNano":1795231120683975239,` + attrs("exception.type", str("E"), "exception.escaped", `{"boolValue":true}`) + `},{"name":"log"}],` +
		attrs("http.request.header.cookie", str("sid=1"), "tier", `{"intValue":3}`, "list", `{"arrayValue":{"values":[]}}`) + `}],"scope":{"name":"lib"}}],` +
		`"resource":{` + attrs("service.name", str("shop"), "service.version", str("1"), "deployment.environment", str("prod"), "host.name", str("web-1"),
		"telemetry.sdk.name", str("otel"), "telemetry.sdk.version", str("1.2"), "telemetry.sdk.language", str("go"), "process.runtime.name", str("go"),
		"process.runtime.version", str("1.26"), "os.type", str("linux"), "os.version", str("6")) + `}}]}`
	if w := post(h, "/v1/traces", jsonText, []byte(request)); w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	drafts := recorder.Take()
	if len(drafts) != 1 {
		t.Fatalf("%d drafts", len(drafts))
	}
	c := drafts[0].Context
	got := fmt.Sprintln(c.Source, c.Release, c.Environment, c.ServerName, c.Platform, c.SDK, c.Runtime, c.OS, c.TraceID, c.SpanID, c.Transaction, c.Logger, *c.Handled, c.Tags, c.Headers, drafts[0].Time)
	want := "otlp-span 1 prod web-1 go otel/1.2 go 1.26 linux 6 0af7651916cd43dd8448eb211c80319c b7ad6b7169203331 GET /x lib false [{service.name shop} {tier 3}] [{cookie sid=1}] 2026-11-21 03:18:40.683975239 +0000 UTC\n"
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A draft must not share memory with the protobuf body, whose buffer is pooled and
// reused.
func TestDraftsShareNothingWithTheBody(t *testing.T) {
	for _, name := range []string{"otel-go-logs.pb", "otel-go-traces.pb", "otel-go-logs.json", "otel-go-traces.json"} {
		contentType := protobuf
		if strings.HasSuffix(name, "json") {
			contentType = jsonText
		}
		h, recorder := newHandler(t)
		post(h, pathOf(name), contentType, recorded(t, name))
		drafts := recorder.Take()
		before := fmt.Sprintf("%+v", drafts)
		for range 50 { // so that every pooled buffer is overwritten
			post(h, "/v1/logs", protobuf, bytes.Repeat([]byte{0xff}, 32<<10))
		}
		if after := fmt.Sprintf("%+v", drafts); after != before {
			t.Errorf("%s: the drafts changed with the buffer:\n%s\n%s", name, before, after)
		}
	}
}

func TestValuesOfProtobuf(t *testing.T) {
	var m easyproto.Marshaler
	record := m.MessageMarshaler().AppendMessage(1).AppendMessage(2).AppendMessage(2)
	record.AppendInt32(2, 17)
	body := record.AppendMessage(5).AppendMessage(6)
	entry := func(key string) *easyproto.MessageMarshaler {
		pair := body.AppendMessage(1)
		pair.AppendString(1, key)
		return pair.AppendMessage(2)
	}
	entry("s").AppendString(1, "te\"xt")
	entry("b").AppendBool(2, true)
	entry("i").AppendInt64(3, -7)
	entry("d").AppendDouble(4, 2.5)
	entry("n").AppendDouble(4, math.NaN())
	entry("y").AppendBytes(7, []byte("hi"))
	list := entry("l").AppendMessage(5)
	list.AppendMessage(1).AppendInt64(3, 1)
	list.AppendMessage(1).AppendMessage(6)
	entry("e")
	h, recorder := newHandler(t)
	w := post(h, "/v1/logs", protobuf, m.Marshal(nil))
	drafts := recorder.Take()
	want := `{"s":"te\"xt","b":true,"i":-7,"d":2.5,"n":"NaN","y":"aGk=","l":[1,{}],"e":null}`
	if len(drafts) != 1 || drafts[0].Message != want {
		t.Errorf("%d %q: %+v\nwant %s", w.Code, w.Body, drafts, want)
	}
}

// deep is a log record whose body has the given depth.
func deep(levels int) []byte {
	value := []byte{0x0a, 1, 'x'}
	for range levels {
		value = framed(5, framed(1, value))
	}
	record := append([]byte{0x10, 17}, framed(5, value)...)
	return framed(1, framed(2, framed(2, record)))
}

// framed is a field with a message.
func framed(number byte, inner []byte) []byte {
	out := []byte{number<<3 | 2}
	for n := len(inner); ; n >>= 7 {
		if n < 0x80 {
			out = append(out, byte(n))
			break
		}
		out = append(out, byte(n)|0x80)
	}
	return append(out, inner...)
}

func malformed(t testing.TB) map[string][]doortest.Case {
	all := map[string][]doortest.Case{}
	for _, name := range []string{"otel-go-logs.pb", "otel-go-traces.pb"} {
		content := recorded(t, name)
		for n := 1; n < len(content); n++ {
			all[pathOf(name)] = append(all[pathOf(name)], doortest.Case{Name: fmt.Sprintf("protobuf cut at %d", n), Body: string(content[:n])})
		}
	}
	all["/v1/logs"] = append(all["/v1/logs"], []doortest.Case{
		{Name: "an endless varint", Body: strings.Repeat("\xff", 64)}, {Name: "a group", Body: "\x0b\x0c"}, {Name: "wire type 6", Body: "\x0e\x00"}, {Name: "wire type 7", Body: "\x0f\x00"},
		{Name: "a huge length", Body: "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"}, {Name: "a field number over 32 bits", Body: "\xfa\xff\xff\xff\xff\xff\x01\x00"},
		{Name: "a broken attribute", Body: string(framed(1, framed(2, framed(2, framed(6, []byte{0x0a, 9})))))}, {Name: "a broken value", Body: string(framed(1, framed(2, framed(2, framed(5, []byte{0x0a})))))},
		{Name: "a broken resource", Body: string(framed(1, framed(1, []byte{0x0a, 9})))},
	}...)
	all["/v1/logs json"] = doortest.BrokenJSON(oneLog, "resourceLogs", "other")
	all["/v1/traces json"] = doortest.BrokenJSON(spanRequest(spanID, sighting{"E", "m", 0}), "resourceSpans", "other")
	return all
}

func TestMalformedBodiesAreRefusedAndCostLittle(t *testing.T) {
	h, recorder := newHandler(t)
	count, most := 0, uint64(0)
	for path, cases := range malformed(t) {
		path, isJSON := strings.CutSuffix(path, " json")
		contentType := protobuf
		if isJSON {
			contentType = jsonText
		}
		for _, c := range cases {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			w := post(h, path, contentType, []byte(c.Body))
			runtime.ReadMemStats(&after)
			count++
			took := after.TotalAlloc - before.TotalAlloc
			most = max(most, took)
			code, message := status(t, w)
			if w.Code < 400 || w.Code > 499 || code == 0 || len(message) > 300 {
				t.Errorf("%s: %d %d %s", c.Name, w.Code, code, message)
			}
			if limit := uint64(12*len(c.Body) + 1<<20); took > limit {
				t.Errorf("%s: %d bytes allocated for %d", c.Name, took, len(c.Body))
			}
		}
	}
	if count < 1000 || recorder.Count() != 0 {
		t.Errorf("%d bodies, %d errors taken", count, recorder.Count())
	}
	t.Logf("%d bodies, at most %d KiB allocated", count, most>>10)
}

func BenchmarkHandler(b *testing.B) {
	for _, name := range []string{"otel-go-logs.pb", "otel-go-traces.pb", "otel-go-logs.json"} {
		b.Run(name, func(b *testing.B) {
			contentType := protobuf
			if strings.HasSuffix(name, "json") {
				contentType = jsonText
			}
			h, recorder := newHandler(b)
			recorder.Discard = true
			content := recorded(b, name)
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			began := doortest.CPU()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, pathOf(name), bytes.NewReader(content))
				r.Header.Set("Authorization", "Bearer "+doortest.Token)
				r.Header.Set("Content-Type", contentType)
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				if w.Code != 200 {
					b.Fatal(w.Code)
				}
			}
			b.ReportMetric(float64(doortest.CPU()-began)/float64(b.N)/float64(recorder.Count()/b.N), "cpu-ns/error")
		})
	}
}

func TestLongMessageIsWhole(t *testing.T) {
	for _, form := range []string{
		`{"severityNumber":17,"body":{"stringValue":%s}}`,
		`{"severityNumber":17,"attributes":[{"key":"exception.message","value":{"stringValue":%s}}]}`,
	} {
		doortest.LongMessage(t, true, func(message string) ingest.Draft {
			text, err := json.Marshal(message)
			if err != nil {
				t.Fatal(err)
			}
			drafts := logDrafts(t, fmt.Sprintf(form, text))
			if len(drafts) != 1 {
				t.Fatalf("%d drafts", len(drafts))
			}
			return drafts[0]
		})
	}
}

func TestLongMessageInAListIsWhole(t *testing.T) {
	doortest.LongMessage(t, false, func(message string) ingest.Draft {
		drafts := logDrafts(t, fmt.Sprintf(`{"severityNumber":17,"body":{"arrayValue":{"values":[{"stringValue":%q}]}}}`, message))
		if len(drafts) != 1 {
			t.Fatalf("%d drafts", len(drafts))
		}
		drafts[0].Message = strings.TrimSuffix(strings.TrimPrefix(drafts[0].Message, `["`), `"]`)
		return drafts[0]
	})
}
