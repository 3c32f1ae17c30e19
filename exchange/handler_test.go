package exchange_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/exchange"
	"github.com/errata-log/errata/ingest/door"
	"github.com/errata-log/errata/ingest/door/doortest"
)

// off is a handler of a log that is switched off. It needs no engine: it checks
// all entries and records none.
func off(t testing.TB, log exchange.Log) *bench {
	t.Helper()
	h, err := exchange.NewHandler(log, exchange.Config{
		Door:   door.Config{Keyring: doortest.Keys{}, NewID: func() string { return "an-id" }},
		Stream: nowhere, Switches: func() errata.Logging { return errata.Logging{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	return &bench{handlers: map[exchange.Log]*exchange.Handler{log: h}}
}

func TestBodies(t *testing.T) {
	b := off(t, exchange.Modules)
	many := strings.Repeat(`{"module":"m"},`, exchange.MaxEntries)
	for _, test := range []struct {
		name, body string
		accepted   int
		rejected   string // indexes
		code       string // of the whole request
	}{
		{"one object", `{"module":"m"}`, 1, "", ""},
		{"one object over lines", "{\n \"module\":\n \"m\"\n}\n", 1, "", ""},
		{"with a mark", "\xef\xbb\xbf{\"module\":\"m\"}", 1, "", ""},
		{"an array", ` [ {"module":"m"} , {"module":"n"} ] `, 2, "", ""},
		{"lines", "{\"module\":\"m\"}\r\n\n{\"module\":\"n\"}\n", 2, "", ""},
		{"a broken line", "{\"module\":\"m\"}\n{\"module\":\n{\"module\":\"n\"}", 2, "1", ""},
		{"an array with odd ones", `[{"module":"m"},{},5,null,"m",[{"module":"m"}],{"module":null},{"module":7},{"module":" "}]`, 1, "1 2 3 4 5 6 7 8", ""},
		{"as many as may be", "[" + many[:len(many)-1] + "]", exchange.MaxEntries, "", ""},
		{"one too many", "[" + many + `{"module":"m"}]`, 0, "", "body_too_large"},
		{"one line too many", strings.ReplaceAll(many, ",", "\n") + `{"module":"m"}`, 0, "", "body_too_large"},
		{"too large", `{"module":"` + strings.Repeat("x", 4<<20) + `"}`, 0, "", "body_too_large"},
		{"empty", "", 0, "", "invalid_body"},
		{"blanks", " \n", 0, "", "invalid_body"},
		{"an empty array", "[]", 0, "", "invalid_entry"},
		{"a text", `"module"`, 0, "", "invalid_body"},
		{"an array without an end", `[{"module":"m"}`, 0, "", "invalid_body"},
		{"a comma too many", `[{"module":"m"},]`, 0, "", "invalid_body"},
		{"more behind it", `[{"module":"m"}] x`, 0, "", "invalid_body"},
		{"broken in the middle", `[{"module":"m"},{"module:"n"}]`, 0, "", "invalid_body"},
		{"nothing needed", `{"query":"SELECT 1"}`, 0, "", "invalid_entry"},
		{"broken", `{"module":"m"`, 0, "", "invalid_body"},
		{"two bad ones", `[{},{"module":[]}]`, 0, "", "invalid_entry"},
		{"not UTF-8", "{\"module\":\"m\xff\"}", 1, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := b.post(t, exchange.Modules, test.body)
			if a.Error.Code != test.code || a.Data.Accepted != test.accepted || a.Data.Recorded != 0 {
				t.Fatalf("answer %+v", a)
			}
			var rejected []string
			for _, r := range a.Data.Rejected {
				rejected = append(rejected, fmt.Sprint(r.Index))
				if r.Message == "" || r.Code != "invalid_entry" && r.Code != "invalid_body" {
					t.Errorf("rejection %+v", r)
				}
			}
			if got := strings.Join(rejected, " "); got != test.rejected {
				t.Errorf("rejected %q, want %q", got, test.rejected)
			}
			if test.code == "" && a.Header.Get(door.HeaderRecorded) != "0" {
				t.Errorf("the header says %q", a.Header.Get(door.HeaderRecorded))
			}
			if test.code == "invalid_entry" && a.Status != http.StatusUnprocessableEntity {
				t.Errorf("status %d", a.Status)
			}
		})
	}
}

// Broken and unusual JSON is refused, and nothing else is lost.
func TestMalformedBodies(t *testing.T) {
	for _, log := range []exchange.Log{exchange.Modules, exchange.Queries} {
		b := off(t, log)
		valid := `{"module":"m","query":"q","time":1,"request":{"a":[1]},"status":"x"}`
		for _, test := range doortest.BrokenJSON(valid, "time", "request", "status", "rows") {
			if a := b.post(t, log, test.Body); a.Status >= 500 {
				t.Errorf("%s: %+v", test.Name, a)
			}
		}
		for _, test := range doortest.OddJSON() {
			if a := b.post(t, log, test.Body); a.Status >= 500 {
				t.Errorf("%s: %+v", test.Name, a)
			}
		}
	}
}

func TestWhoMaySend(t *testing.T) {
	b := off(t, exchange.Queries)
	for _, test := range []struct {
		token, code string
		status      int
	}{{doortest.Token, "", 200}, {doortest.Narrow, "insufficient_scope", 403}, {"other", "unauthorized", 401}, {"", "unauthorized", 401}} {
		a := b.post(t, exchange.Queries, `{"query":"q"}`, "Authorization", "Bearer "+test.token)
		if a.Status != test.status || a.Error.Code != test.code {
			t.Errorf("%q: %+v", test.token, a)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodOptions, http.MethodPut} {
		w := httptest.NewRecorder()
		b.handlers[exchange.Queries].ServeHTTP(w, httptest.NewRequest(method, "/", nil))
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != http.MethodPost {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
}

func TestCodings(t *testing.T) {
	b := off(t, exchange.Queries)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(`{"query":"q"}`)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if a := b.post(t, exchange.Queries, packed.String(), "Content-Encoding", "gzip"); a.Data.Accepted != 1 {
		t.Errorf("gzip: %+v", a)
	}
	if a := b.post(t, exchange.Queries, "x", "Content-Encoding", "x-odd"); a.Status != http.StatusUnsupportedMediaType {
		t.Errorf("an unknown coding: %+v", a)
	}
}

func TestHandlerNeeds(t *testing.T) {
	good := exchange.Config{
		Door:   door.Config{Keyring: doortest.Keys{}},
		Stream: nowhere, Switches: func() errata.Logging { return errata.Logging{} },
	}
	for field, spoil := range map[string]func(*exchange.Config){
		"Switches":  func(c *exchange.Config) { c.Switches = nil },
		"Keyring":   func(c *exchange.Config) { c.Door.Keyring = nil },
		"JetStream": func(c *exchange.Config) { c.Stream.JetStream = nil },
	} {
		c := good
		spoil(&c)
		if _, err := exchange.NewHandler(exchange.Modules, c); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("without %s: %v", field, err)
		}
	}
}

func FuzzBody(f *testing.F) {
	for _, seed := range []string{`{"module":"m"}`, `[{"module":"m","request":{"a":1}}]`, "{\"query\":\"q\"}\n{", `[`} {
		f.Add(seed)
	}
	handlers := map[exchange.Log]*bench{exchange.Modules: off(f, exchange.Modules), exchange.Queries: off(f, exchange.Queries)}
	f.Fuzz(func(t *testing.T, content string) {
		for log, b := range handlers {
			if a := b.post(t, log, content); a.Status >= 500 || a.Status == 200 && a.Data.Accepted == 0 {
				t.Errorf("%+v", a)
			}
		}
	})
}
