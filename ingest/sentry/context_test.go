package sentry_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/sentry"
)

// draftOf reads an event.
func draftOf(t testing.TB, document string) ingest.Draft {
	t.Helper()
	d, err := sentry.ParseEvent([]byte(document))
	if err != nil {
		t.Fatalf("%.200s: %v", document, err)
	}
	return d
}

// crumbsOf are the breadcrumbs of an event as one text.
func crumbsOf(d ingest.Draft) string {
	var all []string
	for _, b := range d.Context.Breadcrumbs {
		at := "-"
		if !b.Time.IsZero() {
			at = b.Time.Format("15:04:05.000")
		}
		all = append(all, strings.Join([]string{at, b.Type, b.Category, b.Level, b.Message, string(b.Data)}, "|"))
	}
	return strings.Join(all, " ")
}

func TestBreadcrumbs(t *testing.T) {
	const one = `{"timestamp":"2026-11-21T03:18:40.5Z","type":"http","category":"fetch","level":"info","message":"m","data":{"a":1},"event_id":"x"}`
	const read = `03:18:40.500|http|fetch|info|m|{"a":1}`
	for breadcrumbs, want := range map[string]string{
		`{"values":[` + one + `]}`:           read,
		`[` + one + `]`:                      read,
		one:                                  read,
		`{"values":[null,7,` + one + `,{}]}`: read,
		`{"values":null}`:                    "",
		`null`:                               "",
		`"text"`:                             "",
		`[]`:                                 "",
		`[{"timestamp":1795231120.5,"message":7}]`:   `03:18:40.500||||7|`,
		`[{"timestamp":"soon","category":"c"}]`:      `-||c|||`,
		`[{"timestamp":-1e300,"category":"c"}]`:      `-||c|||`,
		`[{"message":"m","data":[1]}]`:               `-||||m|`,
		`[{"message":{"a":1},"data":{},"type":"t"}]`: `-|t||||`,
	} {
		if got := crumbsOf(draftOf(t, `{"message":"x","breadcrumbs":`+breadcrumbs+`}`)); got != want {
			t.Errorf("%s: %s, want %s", breadcrumbs, got, want)
		}
	}
}

// TestLastBreadcrumbs: of many the last ones are kept, in their order.
func TestLastBreadcrumbs(t *testing.T) {
	for n, lost := range map[int]bool{ingest.MaxCrumbs: false, ingest.MaxCrumbs + 1: true, 2*ingest.MaxCrumbs + 7: true} {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`{"message":"%d"}`, i))
		}
		c := draftOf(t, `{"message":"x","breadcrumbs":[`+strings.Join(list, ",")+`]}`).Context
		if len(c.Breadcrumbs) != ingest.MaxCrumbs || (len(c.Lost) > 0) != lost {
			t.Fatalf("%d of %d, lost %v", len(c.Breadcrumbs), n, c.Lost)
		}
		for i, b := range c.Breadcrumbs {
			if want := fmt.Sprint(n - ingest.MaxCrumbs + i); b.Message != want {
				t.Errorf("of %d, number %d is %s, want %s", n, i, b.Message, want)
			}
		}
	}
}

// TestAroundFrames: only frames of the application have lines and variables, the lines
// next to the call.
func TestAroundFrames(t *testing.T) {
	const around = `"pre_context":["1","2","3","4","5","6"],"context_line":"7","post_context":["8",null,"10"],"vars":{"a":1},"colno":"4"`
	d := draftOf(t, `{"exception":[{"type":"E","stacktrace":{"frames":[{"filename":"lib.py","in_app":false,`+around+`},{`+around+`,"filename":"app.py","in_app":true},
		{"filename":"bare.py","in_app":true,"pre_context":"x","context_line":[],"post_context":{},"vars":[1]}]}}]}`)
	frames := d.Context.Exceptions[0].Frames
	if frames[0].Around != nil || frames[2].Around != nil || frames[0].Column != 4 {
		t.Errorf("%+v, %+v", frames[0], frames[2])
	}
	want := &ingest.Around{Before: []string{"2", "3", "4", "5", "6"}, Line: "7", After: []string{"8", "", "10"}, Vars: json.RawMessage(`{"a":1}`)}
	if diff := cmp.Diff(want, frames[1].Around); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	large := draftOf(t, `{"exception":[{"type":"E","stacktrace":{"frames":[{"filename":"a.py","in_app":true,"vars":{"a":"`+strings.Repeat("x", ingest.MaxVarsRead)+`"}}]}}]}`)
	if got := fmt.Sprint(large.Context.Lost); got != "[vars]" || large.Context.Exceptions[0].Frames[0].Around != nil {
		t.Errorf("lost %s", got)
	}
}

func TestExceptionGroups(t *testing.T) {
	d := draftOf(t, `{"exception":{"values":[
		{"type":"A","mechanism":{"type":"chained","exception_id":1,"parent_id":0}},
		{"type":"B","mechanism":{"type":"generic","handled":true}},
		{"type":"C","mechanism":{"type":"onerror","exception_id":"x","parent_id":null}},
		{"type":"D","mechanism":{"type":"chained","exception_id":0,"is_exception_group":true}}]}}`)
	var got []string
	for _, x := range d.Context.Exceptions {
		got = append(got, fmt.Sprintf("%s %s %+v", x.Class, x.Mechanism, x.Member))
	}
	want := []string{"A chained &{ID:1 Parent:0 Group:false}", "B  <nil>", "C onerror <nil>", "D chained &{ID:0 Parent:-1 Group:true}"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestContextsAndExtra: contexts are kept as they stand, but for what is a field.
func TestContextsAndExtra(t *testing.T) {
	for contexts, want := range map[string]string{
		`{"device":{"arch":"amd64"},"trace":{"trace_id":"t","op":"x"}}`:                           `{"device":{"arch":"amd64"}}`,
		`{"os":{"name":"linux"},"runtime":{"name":"go","version":"1","type":"runtime"}}`:          ``,
		`{"os":{"name":"linux","kernel_version":"6"},"browser":{"name":"Firefox","version":"1"}}`: `{"os":{"name":"linux","kernel_version":"6"}}`,
		`{"a\"b": {"x" : [1]} ,"none":null,"empty":{},"text":"t","list":[1]}`:                     `{"a\"b":{"x" : [1]}}`,
		`[]`: ``, `null`: ``,
		`{"big":{"a":"` + strings.Repeat("x", 5*ingest.MaxExtra) + `"},"small":{"a":1}}`: `{"small":{"a":1}}`,
	} {
		c := draftOf(t, `{"message":"m","contexts":`+contexts+`}`).Context
		got := ""
		if c.Contexts != nil {
			got = string(c.Contexts.Raw)
		}
		if got != want {
			t.Errorf("%.200s: %s, want %s", contexts, got, want)
		}
		if lost := len(contexts) > ingest.MaxExtra; (len(c.Lost) > 0) != lost {
			t.Errorf("%.200s: lost %v", contexts, c.Lost)
		}
	}
	for extra, want := range map[string]string{`{"a":1}`: `{"a":1}`, ` { } `: ``, `{}`: ``, `[1]`: ``, `null`: ``, `"x"`: ``} {
		if got := string(draftOf(t, `{"message":"m","extra":`+extra+`}`).Context.Extra); got != want {
			t.Errorf("%s: %s, want %s", extra, got, want)
		}
	}
}

// TestContextSharesNothing: the document's memory is used for the next one.
func TestContextSharesNothing(t *testing.T) {
	document := []byte(`{"message":"m","breadcrumbs":[{"message":"crumb","data":{"a":"b"}}],"contexts":{"device":{"arch":"amd64"}},"extra":{"cart":7},
		"exception":[{"type":"E","stacktrace":{"frames":[{"filename":"a.py","in_app":true,"context_line":"line","pre_context":["before"],"vars":{"v":"w"}}]}}]}`)
	d := draftOf(t, string(document))
	written := func(d ingest.Draft) string {
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	read, err := sentry.ParseEvent(document)
	if err != nil {
		t.Fatal(err)
	}
	clear(document)
	draftOf(t, strings.Repeat(" ", 10)+`{"message":"another","breadcrumbs":[{"message":"XXXXX"}],"contexts":{"XXXXXX":{"XXXX":"XXXXX"}},"extra":{"XXXX":7}}`)
	if diff := cmp.Diff(written(d), written(read)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
