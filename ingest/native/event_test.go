package native_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/door/doortest"
	"github.com/errata-log/errata/ingest/native"
)

// full is an event with all fields.
const full = `{"id":"j-17","time":"2026-11-21T03:18:40.608610492Z","type":"database","level":"warn","message":"order 42 failed","template":"order %d failed",` +
	`"exception_class":"App\\OrderError","file":"/srv/app/a.php","line":17,"request_uri":"/checkout?page=2","request_method":"post","user_id":1204,"ip":"::ffff:203.0.113.9",` +
	`"fingerprint":["a","b"],"frames":[{"file":"/srv/app/i.php","line":3,"function":"run","module":"m","in_app":true,"args":["int","string(12)"]}],` +
	`"payload":{"cart":[1,2.50,{"x":null}]},"project":99}`

func TestEveryField(t *testing.T) {
	h, recorder := newHandler(t)
	if w := post(h, full); w.Code != 202 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	got, err := json.MarshalIndent(recorder.Take()[0], "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want := `{
 "ClientID": "j-17",
 "Book": 2,
 "Level": 4,
 "Time": "2026-11-21T03:18:40.608610492Z",
 "Class": "App\\OrderError",
 "Message": "order 42 failed",
 "Template": "order %d failed",
 "Fingerprint": [
  "a",
  "b"
 ],
 "File": "/srv/app/a.php",
 "Line": 17,
 "PlacedBy": 0,
 "URI": "/checkout?page=2",
 "Method": "POST",
 "UserID": "1204",
 "IP": "203.0.113.9",`
	if diff := cmp.Diff(want, strings.Replace(string(got[:strings.Index(string(got), "\n \"Context\"")]), "\n \"SentAt\": \"0001-01-01T00:00:00Z\",", "", 1)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if src := recorder.Source(); src.Project != doortest.Project || src.KeyID != "token" {
		t.Errorf("the source is %+v: it must come from the key", src)
	}
}

func one(t *testing.T, document string) (ingest.Draft, string) {
	t.Helper()
	h, recorder := newHandler(t)
	w := post(h, document)
	drafts := recorder.Take()
	if len(drafts) == 0 {
		return ingest.Draft{}, fmt.Sprintf("%d %s", w.Code, code(t, w))
	}
	return drafts[0], ""
}

// facts is a table of fields and their values in the draft, or their refusals.
func facts(t *testing.T, read func(ingest.Draft) any, table ...string) {
	t.Helper()
	for i := 0; i+1 < len(table); i += 2 {
		document := table[i]
		if !strings.Contains(document, `"message"`) && !strings.Contains(document, `"exception_class"`) {
			document = `{"message":"m",` + document + `}`
		} else {
			document = `{` + document + `}`
		}
		d, refused := one(t, document)
		got := refused
		if refused == "" {
			got = fmt.Sprint(read(d))
		}
		if got != table[i+1] {
			t.Errorf("%s: %s, want %s", table[i], got, table[i+1])
		}
	}
}

func TestFields(t *testing.T) {
	facts(t, func(d ingest.Draft) any { return d.Message + "|" + d.Class },
		`"message":"a"`, "a|", `"exception_class":"E"`, "|E", `"message":null,"exception_class":"E"`, "|E", `"message":"a","message":"b"`, "b|",
		`"message":""`, "422 invalid_event", `"message":" "`, "422 invalid_event", `"message":null`, "422 invalid_event",
		`"message":7`, "422 invalid_event", `"message":["a"]`, "422 invalid_event", `"message":{}`, "422 invalid_event", `"message":true`, "422 invalid_event",
		`"message":"a","exception_class":7`, "422 invalid_event", `"MESSAGE":"a","message":"b"`, "b|")
	facts(t, func(d ingest.Draft) any { return d.Book.String() },
		`"type":"system"`, "system", `"type":"DATABASE"`, "database", `"type":null`, "", `"type":""`, "", `"type":"diary"`, "422 invalid_type", `"type":1`, "422 invalid_event")
	facts(t, func(d ingest.Draft) any { return d.Level },
		`"level":"error"`, "error", `"level":"panic"`, "fatal", `"level":null`, "", `"level":"loud"`, "422 invalid_level", `"level":50`, "422 invalid_event")
	facts(t, func(d ingest.Draft) any { return d.Line },
		`"line":17`, "17", `"line":"17"`, "17", `"line":17.0`, "17", `"line":null`, "0", `"line":0`, "0", `"line":""`, "0",
		`"line":-1`, "422 invalid_event", `"line":17.5`, "422 invalid_event", `"line":1e400`, "422 invalid_event", `"line":"x"`, "422 invalid_event", `"line":[]`, "422 invalid_event",
		`"line":99999999999999999999`, "422 invalid_event", `"line":true`, "422 invalid_event")
	facts(t, func(d ingest.Draft) any { return d.UserID },
		`"user_id":1204`, "1204", `"user_id":"u-7"`, "u-7", `"user_id":null`, "", `"user_id":{}`, "422 invalid_event", `"user_id":false`, "422 invalid_event")
	facts(t, func(d ingest.Draft) any { return d.ClientID },
		`"id":"a"`, "a", `"id":7`, "7", `"id":null`, "", `"id":"`+strings.Repeat("x", 64)+`"`, strings.Repeat("x", 64), `"id":"`+strings.Repeat("x", 65)+`"`, "422 invalid_event",
		`"id":["a"]`, "422 invalid_event")
	facts(t, func(d ingest.Draft) any { return d.Time.UTC().Format(time.RFC3339Nano) },
		`"time":"2026-11-21T03:18:40Z"`, "2026-11-21T03:18:40Z", `"time":1795231120.25`, "2026-11-21T03:18:40.25Z", `"time":1795231120250`, "2026-11-21T03:18:40.25Z",
		`"time":"soon"`, "0001-01-01T00:00:00Z", `"time":null`, "0001-01-01T00:00:00Z", `"time":{}`, "422 invalid_event")
	facts(t, func(d ingest.Draft) any { return d.IP.IsValid() },
		`"ip":"203.0.113.9"`, "true", `"ip":"2001:db8::1"`, "true", `"ip":"here"`, "false", `"ip":null`, "false", `"ip":7`, "422 invalid_event")
	facts(t, func(d ingest.Draft) any { return strings.Join(d.Fingerprint, ",") },
		`"fingerprint":["a",7]`, "a,7", `"fingerprint":null`, "", `"fingerprint":[]`, "", `"fingerprint":"a"`, "422 invalid_event", `"fingerprint":[{}]`, "422 invalid_event")
	facts(t, func(d ingest.Draft) any { return string(d.Context.Extra) },
		`"payload":{ "a":[1] }`, `{ "a":[1] }`, `"payload":null`, "", `"payload":{}`, "{}", `"payload":[]`, "422 invalid_event", `"payload":"x"`, "422 invalid_event")
	facts(t, func(d ingest.Draft) any { return d.Context.Release + "|" + d.Context.Environment },
		`"release":"1.4.2","environment":"production"`, "1.4.2|production", `"release":1.5,"environment":null`, "1.5|",
		`"release":["a"],"environment":{"a":1}`, "|", `"release":"a","release":"b"`, "b|",
		// The payload has them for senders that know no fields.
		`"payload":{"release":"1.4.2","environment":"production"}`, "1.4.2|production", `"payload":{"release":7,"environment":{"a":1}}`, "7|",
		`"release":"own","payload":{"release":"1.4.2","environment":"production"}`, "own|production", `"payload":{"release":"1.4.2"},"environment":"own"`, "1.4.2|own",
		`"payload":{"deep":{"release":"1.4.2"},"list":["environment"]}`, "|", `"payload":null`, "|")
	facts(t, func(d ingest.Draft) any { return d.Context.Tags },
		`"tags":{"feature":"checkout","n":7,"beta":true}`, "[{feature checkout} {n 7} {beta true}]", `"tags":{"a":null,"b":[1],"c":{},"d":""}`, "[{d }]",
		`"tags":{"\u0061\"b":"\u00e9"}`, `[{a"b é}]`, `"tags":{"a":1},"tags":{"b":2}`, "[{b 2}]", `"tags":{"a":1},"tags":null`, "[]",
		`"tags":null`, "[]", `"tags":{}`, "[]", `"tags":["a"]`, "[]", `"tags":"a"`, "[]", `"payload":{"tags":{"a":1}}`, "[]")
	for _, field := range []string{"template", "file", "request_uri", "request_method"} {
		facts(t, func(d ingest.Draft) any { return "taken" },
			`"`+field+`":"x"`, "taken", `"`+field+`":null`, "taken", `"`+field+`":7`, "422 invalid_event", `"`+field+`":{}`, "422 invalid_event", `"`+field+`":[]`, "422 invalid_event")
	}
}

// TestTagsAreBounded: one tag too many is kept, by which the payload says that not
// all of them are there.
func TestTagsAreBounded(t *testing.T) {
	var tags []string
	for i := range 3 * ingest.MaxTags {
		tags = append(tags, fmt.Sprintf(`"t%d":%d`, i, i))
	}
	d, refused := one(t, `{"message":"m","tags":{`+strings.Join(tags, ",")+`}}`)
	got := d.Context.Tags
	if refused != "" || len(got) != ingest.MaxTags+1 || got[0] != (ingest.Pair{Key: "t0", Value: "0"}) {
		t.Errorf("%s, %d tags", refused, len(got))
	}
}

func TestFrames(t *testing.T) {
	read := func(d ingest.Draft) any {
		var all []string
		for _, e := range d.Context.Exceptions {
			for _, f := range e.Frames {
				all = append(all, fmt.Sprintf("%s:%d %s %t %v", f.File, f.Line, f.Function, f.InApp, f.Args))
			}
		}
		return fmt.Sprintf("%s:%d < %s", d.File, d.Line, strings.Join(all, "; "))
	}
	facts(t, read,
		`"frames":[{"file":"a","line":1,"in_app":true},{"file":"b","line":"2"}]`, "a:1 < a:1  true []; b:2  false []",
		`"file":"c","line":3,"frames":[{"file":"a","line":1}]`, "c:3 < a:1  false []",
		`"frames":[null,7,{},{"function":"f"},{"file":"a","line":null,"in_app":"x"}]`, "a:0 < :0 f false []; a:0  false []",
		`"frames":null`, ":0 < ", `"frames":[]`, ":0 < ", `"frames":{}`, "422 invalid_event", `"frames":"x"`, "422 invalid_event",
		// Values, which a client must not send, become shapes.
		`"frames":[{"file":"a","args":["int","string(12)","array(3)","object(App\\User)","resource(stream)","null","hunter2","object(a b)","string(x)","callable",7,7.5,true,null,[1],{"a":1}]}]`,
		"a:0 < a:0  false [int string(12) array(3) object(App\\User) resource(stream) null string(7) string(11) string(9) callable int float bool null array object]")
	d, refused := one(t, `{"message":"m","frames":[`+strings.Repeat(`{"file":"lib"},`, 5_000)+`{"file":"app","in_app":true,"args":[`+strings.Repeat(`1,`, 50)+`1]}]}`)
	if refused != "" {
		t.Fatal(refused)
	}
	frames := d.Context.Exceptions[0].Frames
	if len(frames) != ingest.MaxFrames || len(frames[len(frames)-1].Args) != ingest.MaxFrameArgs || d.File != "app" {
		t.Errorf("%d frames, %d args, at %s", len(frames), len(frames[len(frames)-1].Args), d.File)
	}
}

// malformed are bodies that must be refused.
func malformed() []doortest.Case {
	fields := []string{
		"id", "time", "type", "level", "message", "template", "exception_class", "file", "line", "request_uri", "request_method", "user_id", "ip",
		"fingerprint", "frames", "payload", "unknown",
	}
	all := append(doortest.BrokenJSON(full, fields...), doortest.OddJSON()[:5]...)
	for _, field := range fields[:len(fields)-1] {
		for _, value := range []string{`true`, `{}`, `[{}]`, `[[]]`, `"\ud800"`, `1e400`, `-0`, `7`, `"x"`, `{"a":1}`, `[null]`} {
			document := fmt.Sprintf(`{"message":"m",%q:%s}`, field, value)
			if _, refused := oneQuiet(document); refused {
				all = append(all, doortest.Case{Name: "wrong type: " + document, Body: document})
			}
		}
	}
	return all
}

// oneQuiet says whether a document is refused. It keeps the valid types out of the
// table of wrong ones; TestFields checks which these are.
func oneQuiet(document string) (ingest.Draft, bool) {
	recorder := &doortest.Recorder{}
	h, err := native.New(native.Config{Accepter: recorder, Keyring: doortest.Keys{}})
	if err != nil {
		return ingest.Draft{}, false
	}
	return ingest.Draft{}, post(h, document).Code != 202
}

func TestMalformedBodiesAreRefusedAndCostLittle(t *testing.T) {
	bodies := malformed()
	if len(bodies) < 1000 {
		t.Fatalf("only %d bodies", len(bodies))
	}
	h, recorder := newHandler(t)
	var most uint64
	var slowest time.Duration
	var heap [2]uint64
	for round := range heap {
		for _, c := range bodies {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := doortest.CPU()
			w := post(h, c.Body)
			slowest = max(slowest, doortest.CPU()-began)
			runtime.ReadMemStats(&after)
			took := after.TotalAlloc - before.TotalAlloc
			most = max(most, took)
			if got := code(t, w); w.Code < 400 || w.Code > 499 || got == "" || got == "internal" {
				t.Errorf("%s: %d %s", c.Name, w.Code, w.Body)
			}
			if w.Body.Len() > 600 {
				t.Errorf("%s: an answer of %d bytes", c.Name, w.Body.Len())
			}
			if limit := uint64(8*len(c.Body) + 1<<20); took > limit {
				t.Errorf("%s: %d bytes allocated for %d", c.Name, took, len(c.Body))
			}
		}
		runtime.GC() // twice, because a pool frees its items in two steps
		runtime.GC()
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		heap[round] = now.HeapAlloc
	}
	if n := recorder.Count(); n != 0 {
		t.Errorf("%d events were taken", n)
	}
	if heap[1] > heap[0]+1<<20 {
		t.Errorf("the heap grew from %d to %d bytes", heap[0], heap[1])
	}
	t.Logf("%d bodies, at most %d KiB allocated and %v each, heap %d then %d KiB", len(bodies), most>>10, slowest, heap[0]>>10, heap[1]>>10)
}

// Nothing of a cut array is stored. Of cut lines, the whole ones are.
func TestNoPrefixIsMistakenForAnEvent(t *testing.T) {
	h, recorder := newHandler(t)
	array := "[" + full + "," + full + "]"
	for n := range len(array) {
		if w := post(h, array[:n]); w.Code != 400 || len(recorder.Take()) != 0 {
			t.Errorf("array cut at %d: %d %s", n, w.Code, w.Body)
		}
	}
	lines := full + "\n" + full + "\n" + full
	for n := range len(lines) {
		w := post(h, lines[:n])
		whole := n / (len(full) + 1)
		if n%(len(full)+1) == len(full) {
			whole++
		}
		got := len(recorder.Take())
		if got != whole || (whole > 0) != (w.Code == 202) || whole == 0 && w.Code != 400 {
			t.Errorf("lines cut at %d: %d %s, %d taken, want %d", n, w.Code, w.Body, got, whole)
		}
	}
}

func FuzzNative(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte("[" + full + ",{}]"))
	f.Add([]byte(full + "\n{\n\"message\":\"x\"}\n"))
	f.Add([]byte("{\n\"payload\":\n{},\"message\":\"m\"}"))
	f.Add([]byte(fullContext))
	f.Fuzz(func(t *testing.T, content []byte) {
		h, recorder := newHandler(t)
		r := httptest.NewRequest(http.MethodPost, "/api/v1/events", strings.NewReader(string(content)))
		r.Header.Set("X-Api-Key", doortest.Token)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		code(t, w)
		if w.Code != 202 && (w.Code < 400 || w.Code > 499) || w.Code != 202 && recorder.Count() > 0 || w.Code == 202 && recorder.Count() == 0 {
			t.Errorf("%d %s, %d taken", w.Code, w.Body, recorder.Count())
		}
		for _, d := range recorder.Take() {
			if d.Context.Extra != nil && !json.Valid(d.Context.Extra) {
				t.Errorf("a payload that is no JSON: %q", d.Context.Extra)
			}
		}
	})
}

func TestLongMessageIsWhole(t *testing.T) {
	doortest.LongMessage(t, true, func(message string) ingest.Draft {
		document, err := json.Marshal(map[string]string{"message": message})
		if err != nil {
			t.Fatal(err)
		}
		d, err := native.ParseEvent(document)
		if err != nil {
			t.Fatal(err)
		}
		return d
	})
}
