package ingest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/scrub"
	"github.com/errata-log/errata/projects"
)

// eventUnder is eventOf for a project with the switches.
func eventUnder(t testing.TB, d ingest.Draft, keep projects.Context) errata.Event {
	t.Helper()
	var rules ingest.Rules
	e, refused := rules.Event(&d, ingest.Source{Project: 1, Received: received, Context: keep, UserKey: userKey}, errata.EventID{1})
	if refused != nil {
		t.Fatal(refused)
	}
	return e
}

// rich is a draft with everything that stands around an error.
func rich() ingest.Draft {
	return ingest.Draft{Class: "E", Message: "m", UserID: "1204", Context: ingest.Context{
		Exceptions: []ingest.Exception{
			{Class: "Cause", Mechanism: "chained", Member: &ingest.Member{ID: 1, Parent: 0}},
			{Class: "E", Member: &ingest.Member{Parent: -1, Group: true}, Frames: []ingest.Frame{
				{File: "lib.py", Line: 1, Around: &ingest.Around{Line: "of a library"}},
				{File: "cart.py", Line: 7, Column: 5, InApp: true, Around: &ingest.Around{
					Before: []string{"def add(item):", "\tif not item:"}, Line: "\t\traise E()", After: []string{"", "add(1)"},
					Vars: json.RawMessage(`{"item":"'abc'","n":3,"password":"hunter2","who":{"id":7}}`),
				}},
			}},
		},
		Tags: []ingest.Pair{{Key: "user.name", Value: "bob"}, {Key: "tier", Value: "gold"}},
		Breadcrumbs: []ingest.Breadcrumb{
			{Time: time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.UTC), Type: "http", Category: "fetch", Level: "info", Data: json.RawMessage(`{"url":"/x","token":"hunter2"}`)},
			{Category: "log", Message: "token=hunter2 refused"},
		},
		Contexts: &ingest.Shared{Raw: json.RawMessage(`{"device":{"arch":"amd64","api_key":"hunter2"},"user":{"name":"bob"}}`)},
		Extra:    json.RawMessage(`{"cart":7,"password":"hunter2"}`),
	}}
}

const richPayload = `{"message":"m","exceptions":[{"class":"Cause","mechanism":"chained","id":1,"parent":0},` +
	`{"class":"E","id":0,"group":true,"frames":[{"file":"lib.py","line":1,"in_app":false},` +
	`{"file":"cart.py","line":7,"column":5,"in_app":true,"pre":["def add(item):","\tif not item:"],"context":"\t\traise E()","post":["","add(1)"],` +
	`"vars":{"item":"string(3)","n":"int","password":"[Filtered]","who":"object"}}]}],"tags":{"user.name":"bob","tier":"gold"},` +
	`"breadcrumbs":[{"time":"2026-01-02T03:04:05.678Z","type":"http","category":"fetch","level":"info","data":{"url":"/x","token":"[Filtered]"}},` +
	`{"category":"log","message":"token=[Filtered] refused"}],` +
	`"contexts":{"device":{"arch":"amd64","api_key":"[Filtered]"},"user":{"name":"bob"}},"extra":{"cart":7,"password":"[Filtered]"}}`

// TestContextIsKept pins what a payload has, and that a second event of the same draft
// has the same.
func TestContextIsKept(t *testing.T) {
	d := rich()
	for range 2 {
		if diff := cmp.Diff(richPayload, string(eventOf(t, d).Payload)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

// TestSwitchesOfContext: each switch takes out its part and nothing else.
func TestSwitchesOfContext(t *testing.T) {
	cut := func(from, to string) string {
		before, rest, ok := strings.Cut(richPayload, from)
		_, after, ok2 := strings.Cut(rest, to)
		if !ok || !ok2 {
			t.Fatalf("%s … %s is not in the payload", from, to)
		}
		return before + to + after
	}
	before := func(from string) string { before, _, _ := strings.Cut(richPayload, from); return before }
	for name, c := range map[string]struct {
		keep projects.Context
		want string
	}{
		"source lines": {projects.Context{NoSourceLines: true}, cut(`,"pre"`, `,"vars"`)},
		"breadcrumbs":  {projects.Context{NoBreadcrumbs: true}, cut(`,"breadcrumbs"`, `,"contexts"`)},
		"extra":        {projects.Context{NoExtra: true}, before(`,"contexts"`) + `}`},
		"vars":         {projects.Context{Vars: projects.VarsOff}, cut(`,"vars"`, `}]}],"tags"`)},
		"values": {projects.Context{Vars: projects.VarsValues},
			strings.NewReplacer(`"string(3)"`, `"'abc'"`, `"n":"int"`, `"n":"3"`, `"who":"object"`, `"who":"{\"id\":7}"`).Replace(richPayload)},
		"users": {projects.Context{NoUsers: true}, strings.NewReplacer(`"user.name":"bob",`, ``, `,"user":{"name":"bob"}`, ``).Replace(richPayload)},
	} {
		if diff := cmp.Diff(c.want, string(eventUnder(t, rich(), c.keep).Payload)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

// TestWithoutUsers: the project counts them and does not know them.
func TestWithoutUsers(t *testing.T) {
	e, with := eventUnder(t, rich(), projects.Context{NoUsers: true}), eventUnder(t, rich(), projects.Context{})
	if e.UserID != 0 || e.Trail.User != "" || len(e.Trail.Tags) != 1 || e.Trail.UserHash == 0 || e.Trail.UserHash != with.Trail.UserHash {
		t.Errorf("%d %+v", e.UserID, e.Trail)
	}
	if with.UserID != 1204 || with.Trail.User != "1204" || e.Signature != with.Signature {
		t.Errorf("with users: %d %+v", with.UserID, with.Trail)
	}
	for key, want := range map[string]bool{
		"user": true, "User.Name": true, "enduser.id": true, "user_id": true, "userId": true, "username": true, "user-role": true,
		"user_agent": false, "user-agent": false, "user_agent.original": false, "users": false, "superuser": false, "userland": false, "": false,
	} {
		d := ingest.Draft{Message: "m", Context: ingest.Context{Tags: []ingest.Pair{{Key: key, Value: "v"}}}}
		if got := len(eventUnder(t, d, projects.Context{NoUsers: true}).Trail.Tags) == 0; got != want {
			t.Errorf("%q is about a user: %t, want %t", key, got, want)
		}
	}
}

// TestSignatureWithoutContext: what stands around an error does not change which problem
// it belongs to.
func TestSignatureWithoutContext(t *testing.T) {
	d := rich()
	bare := ingest.Draft{Class: d.Class, Message: d.Message}
	bare.Context.Exceptions = []ingest.Exception{{Class: "Cause"}, {Class: "E", Frames: []ingest.Frame{{File: "lib.py", Line: 1}, {File: "cart.py", Line: 7, InApp: true}}}}
	if a, b := eventOf(t, d).Signature, eventOf(t, bare).Signature; a != b {
		t.Errorf("%s and %s", a, b)
	}
}

// TestOrderOfLoss: a payload that is too large loses extra and contexts, then the data of
// breadcrumbs, then breadcrumbs, then source lines, and then frames.
func TestOrderOfLoss(t *testing.T) {
	object := func(n int) json.RawMessage {
		return json.RawMessage(`{"a":"` + strings.Repeat("x ", n/2) + `"}`)
	}
	draft := func(frames, frame int) ingest.Draft {
		d := ingest.Draft{Message: "m", Context: ingest.Context{Contexts: &ingest.Shared{Raw: object(8000)}, Extra: object(6000)}}
		for i := range frames {
			f := ingest.Frame{File: fmt.Sprint(i, strings.Repeat("f", frame)), InApp: true}
			if i >= frames-10 {
				f.Around = &ingest.Around{Line: strings.Repeat("y ", 90), Before: []string{strings.Repeat("y ", 90), strings.Repeat("y ", 90)}}
			}
			if i%50 == 0 {
				d.Context.Exceptions = append(d.Context.Exceptions, ingest.Exception{Class: "E"})
			}
			x := &d.Context.Exceptions[len(d.Context.Exceptions)-1]
			x.Frames = append(x.Frames, f)
		}
		for range 20 {
			d.Context.Breadcrumbs = append(d.Context.Breadcrumbs, ingest.Breadcrumb{Message: strings.Repeat("m ", 150), Data: object(600)})
		}
		return d
	}
	for _, c := range []struct {
		frames, frame int
		want          []any
	}{
		{50, 300, nil},
		{60, 500, []any{"contexts", "extra"}},
		{90, 500, []any{"contexts", "extra", "breadcrumbs"}},
		{115, 500, []any{"contexts", "extra", "breadcrumbs", "source"}},
		{200, 500, []any{"frames", "contexts", "extra", "breadcrumbs", "source"}},
	} {
		payload := payloadOf(t, eventOf(t, draft(c.frames, c.frame)))
		if got, _ := payload["truncated"].([]any); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%d frames of %d: truncated %v, want %v", c.frames, c.frame, got, c.want)
		}
	}
}

// TestLimitsOfContext: what is over a limit is cut or dropped, and named.
func TestLimitsOfContext(t *testing.T) {
	crumbs := make([]ingest.Breadcrumb, ingest.MaxCrumbs+1)
	for i := range crumbs {
		crumbs[i] = ingest.Breadcrumb{Message: fmt.Sprint(i)}
	}
	text := func(n int) string { return strings.Repeat("x ", n/2) }
	object := func(n int) json.RawMessage { return json.RawMessage(`{"big":"` + text(n) + `","small":1}`) }
	var vars bytes.Buffer
	for i := range ingest.MaxVars + 1 {
		fmt.Fprintf(&vars, `,"v%d":1`, i)
	}
	around := func(a ingest.Around) ingest.Context {
		return ingest.Context{Exceptions: []ingest.Exception{{Frames: []ingest.Frame{{InApp: true, Around: &a}}}}}
	}
	for _, c := range []struct {
		name, has, hasNot string
		context           ingest.Context
		truncated         string
	}{
		{"breadcrumbs", `"message":"30"`, `"message":"0"`, ingest.Context{Breadcrumbs: crumbs}, "[breadcrumbs]"},
		{"message of a breadcrumb", "…", text(ingest.MaxCrumb), ingest.Context{Breadcrumbs: []ingest.Breadcrumb{{Message: text(3000)}}}, "<nil>"},
		{"data of a breadcrumb", `{"message":"m"}`, `"big"`, ingest.Context{Breadcrumbs: []ingest.Breadcrumb{{Message: "m", Data: object(ingest.MaxCrumbData)}}}, "[breadcrumbs]"},
		{"a member of extra", `"extra":{"small":1}`, `"big"`, ingest.Context{Extra: object(ingest.MaxExtra)}, "[extra]"},
		{"extra beside contexts", `"contexts":{"big"`, `"extra":{"big"`, ingest.Context{Contexts: &ingest.Shared{Raw: object(9000)}, Extra: object(9000)}, "[extra]"},
		{"extra of a native event", `"extra":{"big"`, "truncated", ingest.Context{Extra: object(2 * ingest.MaxExtra), ExtraWhole: true}, "<nil>"},
		{"broken contexts", `"message":"m"`, `"contexts":`, ingest.Context{Contexts: &ingest.Shared{Raw: json.RawMessage(`{"a":`)}}, "[contexts]"},
		{"a source line", `"context":"` + text(190), text(200), around(ingest.Around{Line: text(900)}), "<nil>"},
		{"source lines", `"pre":["2","3","4","5","6"],"context":"7","post":["8","9","10","11","12"],`, `"1"`, around(ingest.Around{
			Before: []string{"1", "2", "3", "4", "5", "6"}, Line: "7", After: []string{"8", "9", "10", "11", "12", "13"}, Vars: json.RawMessage(`{"a":1}`),
		}), "<nil>"},
		{"a line feed in a line", `"pre":["a b"],"context":"c  d"`, "post", around(ingest.Around{Before: []string{"a\nb"}, Line: "c\r\nd"}), "<nil>"},
		{"variables", `"v39"`, `"v40"`, around(ingest.Around{Vars: json.RawMessage("{" + vars.String()[1:] + "}")}), "[vars]"},
		{"a secret in several lines", `"context":"[Filtered]"`, "MII", around(ingest.Around{
			Before: []string{"-----BEGIN RSA PRIVATE KEY-----", "MIIabcdef"}, Line: "MIIghijk", After: []string{"-----END RSA PRIVATE KEY-----"},
		}), "<nil>"},
		{"a value on the next line", `"context":"\"[Filtered]\""`, "hunter2", around(ingest.Around{Before: []string{`"password":`}, Line: `"hunter2"`}), "<nil>"},
	} {
		e := eventOf(t, ingest.Draft{Message: "m", Context: c.context})
		if got := fmt.Sprint(payloadOf(t, e)["truncated"]); got != c.truncated {
			t.Errorf("%s: truncated %s, want %s", c.name, got, c.truncated)
		}
		if payload := string(e.Payload); !strings.Contains(payload, c.has) || strings.Contains(payload, c.hasNot) {
			t.Errorf("%s: %.600s", c.name, payload)
		}
	}
	long := eventUnder(t, ingest.Draft{Message: "m", Context: around(ingest.Around{Vars: json.RawMessage(`{"a":"` + text(900) + `"}`)})}, projects.Context{Vars: projects.VarsValues})
	if value := string(long.Payload); !strings.Contains(value, text(250)) || strings.Contains(value, text(260)) {
		t.Errorf("a long value: %s", value)
	}
}

// TestShapesOfVariables: of a value only its shape is kept, also of what Python's repr
// wrote.
func TestShapesOfVariables(t *testing.T) {
	for value, want := range map[string]string{
		`17`: "int", `1.5`: "float", `true`: "bool", `null`: "null", `[1,2]`: "array", `{"a":1}`: "object", `"hello"`: "string(5)", `""`: "string(0)",
		`"'hello'"`: "string(5)", `"17"`: "int", `"-1.5"`: "float", `"-"`: "string(1)", `"None"`: "null", `"True"`: "bool", `"[1, 2]"`: "array", `"{'a': 1}"`: "object",
		`"<shop.Gateway object at 0x7f0ca6a3a450>"`: "object(shop.Gateway)", `"<Order: 4711 (pending)>"`: "object(Order)", `"<hunter2>"`: "object",
		`"<hunter2: x>"`: "object", `"<Hunter two: x>"`: "object", `"string(12)"`: "string(12)", `"object(App\\User)"`: `object(App\User)`, `"'"`: "string(1)",
	} {
		e := eventOf(t, ingest.Draft{Message: "m", Context: ingest.Context{Exceptions: []ingest.Exception{{Frames: []ingest.Frame{
			{InApp: true, Around: &ingest.Around{Vars: json.RawMessage(`{"v":` + value + `}`)}}}}}}})
		frame := payloadOf(t, e)["exceptions"].([]any)[0].(map[string]any)["frames"].([]any)[0].(map[string]any)
		if got := frame["vars"].(map[string]any)["v"]; got != want {
			t.Errorf("%s: %v, want %s", value, got, want)
		}
	}
}

// TestLinesAreScrubbedByTheRulesInForce: lines that were seen before are remembered, by the
// rules that scrubbed them, and no number of lines makes another result.
func TestLinesAreScrubbedByTheRulesInForce(t *testing.T) {
	strict, err := ingest.NewRules(nil, scrub.Additions{Keys: []string{"patient"}})
	if err != nil {
		t.Fatal(err)
	}
	line := func(rules ingest.Rules, text string) any {
		d := ingest.Draft{Message: "m", Context: ingest.Context{Exceptions: []ingest.Exception{{Frames: []ingest.Frame{{InApp: true, Around: &ingest.Around{Line: text}}}}}}}
		e, refused := rules.Event(&d, ingest.Source{Project: 1, Received: received}, errata.EventID{1})
		if refused != nil {
			t.Fatal(refused)
		}
		return payloadOf(t, e)["exceptions"].([]any)[0].(map[string]any)["frames"].([]any)[0].(map[string]any)["context"]
	}
	for i := range 3000 {
		text := fmt.Sprintf("patient='p%d' %s", i%1000, strings.Repeat("x ", 80))
		cut := strings.Replace(text, fmt.Sprintf("'p%d'", i%1000), "'[Filtered]'", 1)
		if got := line(ingest.Rules{}, text); got != text {
			t.Fatalf("%v, want %s", got, text)
		}
		if got := line(strict, text); got != cut {
			t.Fatalf("with a key more: %v, want %s", got, cut)
		}
	}
}

// TestContextsAreScrubbedAsOne: members that were seen before are remembered, and a pair
// of a name and a value is found all the same.
func TestContextsAreScrubbedAsOne(t *testing.T) {
	for raw, want := range map[string]string{
		`{"device":{"arch":"amd64"},"auth":{"a":"hunter2"}}`:           `{"device":{"arch":"amd64"},"auth":"[Filtered]"}`,
		`{"name":"password","value":"hunter2"}`:                        `{"name":"password","value":"[Filtered]"}`,
		`{"device":{"arch":"amd64"},"name":"token","value":"hunter2"}`: `{"device":{"arch":"amd64"},"name":"token","value":"[Filtered]"}`,
		`{ "a" : { "b" : { "token":"hunter2" } } }`:                    `{"a":{"b":{"token":"[Filtered]"}}}`,
		`{}`: ``, `{"a":{}}`: `{"a":{}}`, `{"a":{}} x`: ``, `[]`: ``, `{"a":{"b":}}`: ``, `7`: ``,
	} {
		for range 2 {
			e := eventOf(t, ingest.Draft{Message: "m", Context: ingest.Context{Contexts: &ingest.Shared{Raw: json.RawMessage(raw)}}})
			var payload struct{ Contexts json.RawMessage }
			if err := json.Unmarshal(e.Payload, &payload); err != nil || string(payload.Contexts) != want {
				t.Errorf("%s: %s, %v, want %s", raw, payload.Contexts, err, want)
			}
		}
	}
}
