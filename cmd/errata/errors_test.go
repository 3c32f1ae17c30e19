package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/errata-log/errata/query"
)

const (
	orderSignature  = "00112233445566778899aabbccddeeff"
	uploadSignature = "0011aabb445566778899aabbccddeeff"
)

// errorRows are two records; the second comes from somebody hostile.
const errorRows = `{"id":7,"signature":"` + orderSignature + `","type":"system","level":"error","count":12,"first_seen":"2026-11-19T03:58:25.123Z","last_seen":"2026-11-21T03:58:25.123Z","file":"src/Orders.php","line":51,"message_preview":"order 42 failed","exception_class":"App\\Orders\\Missing","request_uri":"/checkout?page=2","request_method":"POST","user_id":1204,"ip":"203.0.113.9","status":"open","regressed":true,"project":"web-shop","project_id":2,"users":9,"environments":["production"],"releases":["shop@1.4.0","shop@1.3.9"],"overflow":false%s},` +
	`{"id":8,"signature":"` + uploadSignature + `","type":"database","level":"fatal","count":1,"first_seen":"2026-11-21T03:50:00.000Z","last_seen":"2026-11-21T03:50:00.000Z","file":"a\u001b[2Jb.js","line":0,"message_preview":"\u001b]0;owned\u0007 upload\r\u009b31m failed 漢字","exception_class":"","request_uri":"","request_method":"","user_id":0,"ip":"","status":"muted","regressed":false,"project":"","project_id":0,"users":0,"environments":[],"releases":[],"overflow":false%s}`

const errorPayload = `,"payload":{"source":"sentry","message":"order 42 failed\nfor customer \u001b[31m7","exceptions":[{"class":"First","message":"of the first event","frames":[]}]}`

const latestOccurrence = `{"number":12,"position":99,"event_id":"9ec79c33ec9942ab8353589fcb2e04dc","time":"2026-11-21T03:58:25.123Z","environment":"production","release":"shop@1.4.0","user":"u-77","server":"web-3","transaction":"POST /checkout","trace_id":"4bf92f35","tags":{},"payload_available":true,"payload":{
"exceptions":[{"class":"PDOException","message":"server has gone away","frames":[{"file":"src/Db.php","line":9,"function":"query","in_app":true}]},
{"class":"App\\Orders\\Missing","message":"order \u001b[7m42","frames":[{"file":"vendor/kernel.php","line":1,"function":"handle","in_app":false},{"file":"src/Cart.php","line":20,"function":"checkout","in_app":true},{"file":"vendor/bus.php","line":3,"function":"call","in_app":false},{"file":"vendor/bus.php","line":4,"function":"call2","in_app":false},{"file":"src/Orders.php","line":51,"function":"load","in_app":true,"context":"    throw new Missing($id);"}]}],
"breadcrumbs":[{"time":"2026-11-21T03:58:24.000Z","category":"ui.click","level":"info","message":"button\u001b[1m#pay"},{"time":"2026-11-21T03:58:25.000Z","type":"http","category":"fetch","level":"error","data":{"method":"POST","url":"/api/orders","status_code":500}}]}}`

// errorsService has the two records, and notes what it is sent.
func errorsService(t *testing.T) (at []string, sent *[]string) {
	t.Helper()
	sent = new([]string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*sent = append(*sent, strings.TrimSpace(strings.TrimPrefix(r.Method+" "+r.URL.String()+" "+string(body), "GET "+errorsPath)))
		rows := strings.Split(fmt.Sprintf(errorRows, "", ""), "},{")
		rows[0], rows[1] = rows[0]+"}", "{"+rows[1]
		switch {
		case r.Method == http.MethodDelete:
			fmt.Fprint(w, `{"data":{"deleted":true,"count":1}}`)
		case r.Method == http.MethodPost:
			fmt.Fprint(w, `{"data":{"updated":true,"status":"resolved","count":1}}`)
		case r.URL.Path == errorsPath+"/"+orderSignature+"/occurrences/latest":
			fmt.Fprint(w, `{"data":`+latestOccurrence+`}`)
		case strings.HasSuffix(r.URL.Path, "/occurrences/latest"):
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error":{"code":"not_found","message":"none \u001b[31m is kept"}}`)
		case strings.HasPrefix(r.URL.Path, errorsPath+"/"):
			records := fmt.Sprintf("["+errorRows+"]", errorPayload, `,"payload":{}`)
			var list []json.RawMessage
			if err := json.Unmarshal([]byte(records), &list); err != nil {
				t.Error(err)
			}
			at := slices.Index([]string{errorsPath + "/" + orderSignature, errorsPath + "/" + uploadSignature}, r.URL.Path)
			fmt.Fprintf(w, `{"data":%s}`, list[at])
		case r.URL.Query().Get("search") != "" && r.URL.Query().Get("page") == "1": // the records stand on two pages
			fmt.Fprintf(w, `{"data":[%s],"meta":{"total":2,"page":1,"limit":100,"next_page":2}}`, rows[0])
		case r.URL.Query().Get("page") == "2":
			fmt.Fprintf(w, `{"data":[%s],"meta":{"total":2,"page":2,"limit":100,"next_page":0}}`, rows[1])
		case r.URL.Query().Get("levels") == "loud":
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprint(w, `{"error":{"code":"invalid_level","message":"\u009b31m is no level"}}`)
		default:
			fmt.Fprintf(w, `{"data":[%s,%s],"meta":{"total":60,"page":1,"limit":2,"next_page":2}}`, rows[0], rows[1])
		}
	}))
	t.Cleanup(server.Close)
	return []string{"--url", server.URL, "--key", "k"}, sent
}

func TestErrorsList(t *testing.T) {
	at, sent := errorsService(t)
	for _, columns := range []string{"", "80", "120", "40"} {
		got := command(t, []string{"COLUMNS=" + columns}, append([]string{"errors", "list"}, at...)...)
		if got.code != exitOK || got.err != "2 of 60 records; --page 2 shows more\n" {
			t.Errorf("%+v", got)
		}
		if bad, found := unsafe(got.out); found {
			t.Errorf("COLUMNS=%s: the table has %U", columns, bad)
		}
		golden(t, strings.TrimSuffix("errors-list-"+columns, "-"), got.out)
	}
	*sent = nil
	got := command(t, nil, append([]string{
		"errors", "list", "--json", "--project", "shop", "--exception_class", "Missing", "--date-range", "7d", "--tag", "a:b,c", "--tag", "d:e", "--hide_noise", "--limit", "2",
	}, at...)...)
	var rows []apiRecord
	if err := json.Unmarshal([]byte(got.out), &rows); err != nil || len(rows) != 2 || !strings.Contains(rows[1].Message, "\u009b31m") {
		t.Errorf("as JSON: %+v, %v", got, err)
	}
	if bad, found := unsafe(got.out); found {
		t.Errorf("the JSON has %U", bad)
	}
	if want := "?date_range=7d&exception_class=Missing&hide_noise=1&limit=2&project=shop&tag=a%3Ab%2Cc&tag=d%3Ae"; (*sent)[0] != want {
		t.Errorf("asked for %s, want %s", (*sent)[0], want)
	}
	got = command(t, nil, append([]string{"errors", "list", "--levels", "loud"}, at...)...)
	if want := "errata: list the errors: the service answered 422 invalid_level: \\u009b31m is no level\n"; got.code != exitFailed || got.err != want {
		t.Errorf("a refusal: %+v, want %q", got, want)
	}
}

// TestEveryListParameterIsAFlag compares the flags with the parameters of the API.
func TestEveryListParameterIsAFlag(t *testing.T) {
	help := command(t, nil, "errors", "list", "-h").out
	for _, name := range append(slices.Clone(query.FilterParameters), "order", "direction", "page", "limit") {
		if !strings.Contains(help, "--"+name+" ") {
			t.Errorf("there is no flag for %s", name)
		}
	}
}

func TestErrorsShow(t *testing.T) {
	at, sent := errorsService(t)
	for name, args := range map[string][]string{
		"errors-show": {"system/001122"}, "errors-show-narrow": {orderSignature}, "errors-show-frames": {"00112", "--all-frames"}, "errors-show-bare": {"database/0011AABB"},
	} {
		environ := []string(nil)
		if name == "errors-show-narrow" {
			environ = []string{"COLUMNS=50"}
		}
		got := command(t, environ, append(append([]string{"errors", "show"}, args...), at...)...)
		if got.code != exitOK || got.err != "" {
			t.Errorf("%s: %+v", name, got)
		}
		if bad, found := unsafe(got.out); found {
			t.Errorf("%s: the output has %U", name, bad)
		}
		golden(t, name, got.out)
	}
	*sent = nil
	got := command(t, nil, append([]string{"errors", "show", "system/001122", "--json"}, at...)...)
	var d struct {
		Record apiRecord `json:"record"`
		Latest sighting  `json:"latest_occurrence"`
	}
	if err := json.Unmarshal([]byte(got.out), &d); err != nil || d.Record.Signature != orderSignature || d.Latest.Number != 12 {
		t.Errorf("as JSON: %+v, %v", got, err)
	}
	if want := "?limit=100&order=id&page=1&search=001122&types=system"; (*sent)[0] != want || !strings.HasSuffix((*sent)[2], "?type=system") {
		t.Errorf("asked for %q, want first %s, then the detail of that book", *sent, want)
	}
	for arg, want := range map[string]string{
		"0011": "more than one record, such as system/" + orderSignature + " and database/" + uploadSignature, "system/ffff": "there is no record system/ffff",
		"001": "4 to 32 digits", "order": "is not the name of a record", "x/": "is not the name of a record",
	} {
		if got := command(t, nil, append([]string{"errors", "show", arg}, at...)...); got.code == exitOK || got.out != "" || !strings.Contains(got.err, want) {
			t.Errorf("show %s: %+v, want a failure with %q", arg, got, want)
		}
	}
}

func TestPrintProjects(t *testing.T) {
	all := []apiProject{
		{ID: 1, Slug: "default", Name: "default"},
		{ID: 12, Slug: "web-shop", Name: "Web shop \x1b[31mof the north, with all that belongs to it", Platform: "python-django", CreatedAt: "2026-11-23T14:00:00.000Z", Archived: true},
	}
	for name, width := range map[string]int{"projects-list": 0, "projects-list-80": 80, "projects-list-40": 40} {
		var out strings.Builder
		if err := printProjects(&out, width, all); err != nil {
			t.Fatal(err)
		}
		golden(t, name, out.String())
	}
}
