package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/api"
	"github.com/errata-log/errata/api/openapi"
	"github.com/errata-log/errata/query"
)

// unknown are the details of an unknown_parameter.
type unknown struct {
	Parameter string  `json:"parameter"`
	Nearest   *string `json:"nearest"`
}

// TestUnknownParametersAreRefused walks the route table: each route of the
// administration takes the query parameters of the document and no other. Who may
// not use the route does not learn even that.
func TestUnknownParametersAreRefused(t *testing.T) {
	b := newBench(t, nil)
	everything, nothing := b.key(t, access.Everything), b.key(t, access.SignInRecord)
	ops, walked := operations(t), 0
	for _, r := range api.Routes() {
		if !strings.HasPrefix(r.Path, "/api/v1/admin/") {
			continue
		}
		walked++
		ask := func(method, key, raw string) (status int, kind string, details unknown) {
			w := b.do(request{method: method, target: target(r) + "?" + raw, key: key})
			var envelope struct {
				Error struct {
					Code    string
					Details json.RawMessage
				}
			}
			if err := json.Unmarshal(w.Body.Bytes(), &envelope); err != nil && strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
				t.Fatalf("%s %s: %v\n%s", method, r.Path, err, w.Body)
			}
			_ = json.Unmarshal(envelope.Error.Details, &details) // other codes have other details
			return w.Code, envelope.Error.Code, details
		}
		for _, name := range []string{"zzz", "zzz[]"} {
			status, kind, details := ask(r.Method, everything, name+"=1")
			if status != http.StatusUnprocessableEntity || kind != string(errata.KindUnknownParameter) || details.Parameter != name || details.Nearest != nil {
				t.Errorf("%s %s?%s: %d %s %+v", r.Method, r.Path, name, status, kind, details)
			}
		}
		if status, kind, _ := ask(r.Method, "", "zzz=1"); r.Admission != api.AdmitAll && kind != string(errata.KindUnauthorized) {
			t.Errorf("%s %s without a key: %d %s", r.Method, r.Path, status, kind)
		}
		if status, kind, _ := ask(r.Method, nothing, "zzz=1"); r.Admission == api.AdmitByScope && kind != string(errata.KindInsufficientScope) {
			t.Errorf("%s %s without the scope: %d %s", r.Method, r.Path, status, kind)
		}
		for _, p := range ops[documented(r)].Parameters {
			name := p.Value.Name
			for _, raw := range []string{name + "=", name + "[]=", url.QueryEscape(name+"[]") + "="} {
				if status, kind, _ := ask(r.Method, everything, raw); p.Value.In == "query" && kind == string(errata.KindUnknownParameter) {
					t.Errorf("%s %s?%s, which the document has: %d %s", r.Method, r.Path, raw, status, kind)
				}
			}
		}
	}
	if walked < 30 {
		t.Errorf("only %d routes were walked", walked)
	}
}

// TestRefusedParameters: what the answer says about parameters of the list.
func TestRefusedParameters(t *testing.T) {
	b := newBench(t, nil)
	b.records.list = func(context.Context, url.Values, query.Projects) (query.List, error) {
		t.Error("the list was read")
		return query.List{}, nil
	}
	key := b.key(t, access.Everything)
	golden(t, "unknown_parameter", b.do(request{method: "GET", target: errorsPath + "?levels=error&type=system", key: key, headers: []string{"X-Request-Id: r"}}))
	for _, c := range []struct {
		raw, parameter, nearest string // nearest "": null
	}{
		{"projects=2", "projects", "project"},
		{"level=error", "level", "levels"},
		{"Types=system", "Types", "types"},
		{"type[]=system", "type[]", "types"},
		{"types[0]=system", "types[0]", "types"},
		{"types%5B%5D%5B%5D=system", "types[][]", "types"},
		{"tpyes=system", "tpyes", "types"},
		{"userId=7", "userId", "user_id"},
		{"min-occurrence=7", "min-occurrence", "min_occurrence"},
		{"exception=X", "exception", "exception_class"},
		{"class=X", "class", "exception_class"},
		{"uri=/x", "uri", "request_uri"},
		{"date=7d", "date", "date_range"},
		{"q=x", "q", ""},
		{"id=7", "id", ""},
		{"=x", "", ""},
		{"zzz=", "zzz", ""},
		{"page=2&zzz&limit=5", "zzz", ""},
		{"%F0%9F%90%9B=1", "🐛", ""},
		{strings.Repeat("types", 50) + "=1", strings.Repeat("types", 50)[:64] + "…", ""},
		// What cannot be read is not left out.
		{"types=system;levels=fatal", "types", "types"},
		{"levels=%zz", "levels", "levels"},
		{"%zz=1", "%zz", ""},
	} {
		w := b.do(request{method: "GET", target: errorsPath + "?" + c.raw, key: key})
		var envelope struct {
			Error struct {
				Code, Message string
				Details       unknown
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &envelope); err != nil {
			t.Fatalf("%s: %v\n%s", c.raw, err, w.Body)
		}
		got := envelope.Error
		nearest := ""
		if got.Details.Nearest != nil {
			nearest = *got.Details.Nearest
		}
		if w.Code != http.StatusUnprocessableEntity || got.Code != "unknown_parameter" || got.Details.Parameter != c.parameter || nearest != c.nearest || (got.Details.Nearest == nil) != (c.nearest == "") {
			t.Errorf("%s: %d %s", c.raw, w.Code, w.Body)
		}
		if !strings.HasSuffix(got.Message, ".") || len(got.Message) > 400 {
			t.Errorf("%s: message %q", c.raw, got.Message)
		}
	}
}

// TestListsInBrackets: name[]=a&name[]=b is name=a,b.
func TestListsInBrackets(t *testing.T) {
	b := newBench(t, nil)
	var asked url.Values
	b.records.list = func(_ context.Context, values url.Values, _ query.Projects) (query.List, error) {
		asked = values
		return query.List{Page: 1, Limit: 25}, nil
	}
	key := b.key(t, access.Everything)
	for raw, want := range map[string]url.Values{
		"types[]=system": {"types": {"system"}},
		"types%5B%5D=system&types%5b%5d=database":           {"types": {"system,database"}},
		"levels[]=error&levels=info,debug&levels[]=fatal":   {"levels": {"error,info,debug,fatal"}},
		"levels[]=error&levels[]=&page=2":                   {"levels": {"error"}, "page": {"2"}},
		"status[]=":                                         {"status": {""}},
		"search[]=a%26b%2Bc&search[]=d":                     {"search": {"a&b+c,d"}},
		"levels=error&levels=fatal&search=+two+words+&page": {"levels": {"error", "fatal"}, "search": {" two words "}, "page": {""}},
	} {
		if w := b.do(request{method: "GET", target: errorsPath + "?" + raw, key: key}); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", raw, w.Code, w.Body)
		}
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("%s (-want +got):\n%s", raw, diff)
		}
	}
	one, two := strings.Repeat("1", 32), strings.Repeat("2", 32)
	for _, raw := range []string{"signatures[]=" + one + "&signatures[]=" + two, "signatures=" + one + "&signatures=" + two} {
		w := b.do(request{method: "GET", target: errorsPath + "/trends?" + raw, key: key})
		if got := []bool{strings.Contains(w.Body.String(), one), strings.Contains(w.Body.String(), two)}; w.Code != http.StatusOK || slices.Contains(got, false) {
			t.Errorf("%s: %d %s", raw, w.Code, w.Body)
		}
	}
}

// TestUnknownParameterBeforeAnythingHappens: a change with an unknown parameter does
// nothing, and its Idempotency-Key stays free.
func TestUnknownParameterBeforeAnythingHappens(t *testing.T) {
	b := newBench(t, nil)
	r := request{
		method: "POST", target: errorsPath + "/cleanup?dry_run=1", key: b.key(t, access.Everything), body: `{"before":"2026-11-01"}`,
		headers: []string{"Idempotency-Key: 0123456789"},
	}
	if w := b.do(r); code(t, w) != "unknown_parameter" || b.changes.calls != 0 {
		t.Errorf("%d %s, %d changes", w.Code, w.Body, b.changes.calls)
	}
	r.target = errorsPath + "/cleanup"
	if w := b.do(r); w.Code != http.StatusOK || w.Header().Get("Idempotency-Replayed") != "" || b.changes.calls != 1 {
		t.Errorf("%d %s, %d changes", w.Code, w.Body, b.changes.calls)
	}
}

var inQuotes = regexp.MustCompile(`'(\w+)'`)

// TestThePageSendsKnownParameters reads the names that the page sends to the list
// out of its source.
func TestThePageSendsKnownParameters(t *testing.T) {
	source, err := os.ReadFile("../web/src/lib/filters.ts")
	if err != nil {
		t.Fatal(err)
	}
	known, err := openapi.Queries()
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range []struct {
		begin, end string
		name       *regexp.Regexp
	}{
		{"const table = {", "} satisfies", regexp.MustCompile(`(?m)^  (\w+): \{`)},
		{"export const orderNames = [", "]", inQuotes},
	} {
		_, after, found := strings.Cut(string(source), list.begin)
		names, _, _ := strings.Cut(after, list.end)
		all := list.name.FindAllStringSubmatch(names, -1)
		if !found || len(all) < 4 {
			t.Fatalf("%s has %d names", list.begin, len(all))
		}
		for _, name := range all {
			if !slices.Contains(known["GET "+errorsPath], name[1]) {
				t.Errorf("the page sends %s, which the list does not know", name[1])
			}
		}
	}
}
