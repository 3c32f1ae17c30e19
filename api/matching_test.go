package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/query"
)

// TestChangesByFilter: a filter is checked as the list checks it, relative dates are
// made absolute, and what would select everything by accident is refused.
func TestChangesByFilter(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.ToolsDeleteErrorLogs, access.ToolsUpdateErrorStatus)
	b.changes.answer = errata.Changed{System: 7}
	for _, test := range []struct {
		filter string
		code   string // "" for success
		stored string
	}{
		{`{"levels":"error,FATAL"}`, "", `{"levels":"error,fatal"}`},
		{`{"levels":"error","min_occurrence":"3","hide_noise":"on"}`, "", `{"hide_noise":"1","levels":"error","min_occurrence":"3"}`},
		{`{"types":"system,database"}`, "", `{"types":"system,database"}`},
		{`{"search":" order "}`, "", `{"search":"order"}`},
		{`{"project":"project-1, 1,0"}`, "", `{"project":"0,1"}`},
		{`{"project":",","levels":"error"}`, "", `{"levels":"error"}`},
		{`{"project":"nobody"}`, "invalid_project", ""},
		{`{"environment":"production, (unknown)","release":"shop@1.*"}`, "", `{"environment":"(unknown),production","release":"shop@1.*"}`},
		{`{}`, "filter_required", ""},
		{`{"search":"  ","hide_noise":"0"}`, "filter_required", ""},
		{`{"level":"error"}`, "unknown_parameter", ""},
		{`{"page":2,"levels":"error"}`, "unknown_parameter", ""},
		{`{"levels":"purple"}`, "invalid_level", ""},
		{`{"date_range":"soon"}`, "invalid_date_range", ""},
		{`{"search":null}`, "invalid_body", ""},
		{`{"levels":["error"]}`, "invalid_body", ""},
		{`null`, "invalid_body", ""},
		{`"levels=error"`, "invalid_body", ""},
	} {
		for _, c := range []struct{ method, target, more string }{
			{"DELETE", errorsPath, ""}, {"POST", errorsPath + "/status", `,"status":"muted"`},
		} {
			b.changes.calls, b.changes.filter = 0, ""
			w := b.do(request{method: c.method, target: c.target, key: key, body: `{"filter":` + test.filter + c.more + `}`})
			var got struct {
				Data  struct{ Count int }
				Error struct{ Code string }
			}
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			calls := 0
			if test.code == "" {
				calls = 1
			}
			if got.Error.Code != test.code || b.changes.calls != calls || b.changes.filter != test.stored || got.Data.Count != 7*calls {
				t.Errorf("%s %s: %d %s, stored %q by %d calls; want %q, %q", c.method, test.filter, w.Code, w.Body, b.changes.filter, b.changes.calls, test.code, test.stored)
			}
		}
	}
}

// TestFilterOrSignatures: both would leave open which is meant.
func TestFilterOrSignatures(t *testing.T) {
	b := newBench(t, nil)
	key := b.key(t, access.ToolsDeleteErrorLogs)
	w := b.do(request{method: "DELETE", target: errorsPath, key: key, body: fmt.Sprintf(`{"signatures":[%q],"filter":{"levels":"error"}}`, someHex)})
	if w.Code != 400 || b.changes.calls != 0 {
		t.Errorf("%d %s after %d calls", w.Code, w.Body, b.changes.calls)
	}
}

// TestFilterParametersAreThoseOfTheList: the document names the same for both.
func TestFilterParametersAreThoseOfTheList(t *testing.T) {
	var document struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In string }
		}
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	b := newBench(t, nil)
	if err := json.Unmarshal(b.do(request{method: "GET", target: "/api/v1/openapi.json"}).Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, p := range document.Paths[errorsPath]["get"].Parameters {
		if p.In == "query" && !slices.Contains([]string{"order", "direction", "page", "limit"}, p.Name) {
			listed = append(listed, p.Name)
		}
	}
	slices.Sort(listed)
	wanted := slices.Sorted(slices.Values(query.FilterParameters))
	if diff := cmp.Diff(wanted, listed); diff != "" {
		t.Errorf("parameters of the list (-filter +list):\n%s", diff)
	}
	if diff := cmp.Diff(wanted, slices.Sorted(maps.Keys(document.Components.Schemas["ErrorFilter"].Properties))); diff != "" {
		t.Errorf("members of the schema (-filter +schema):\n%s", diff)
	}
}
