package projects

import (
	"encoding/json"
	"testing"

	errata "github.com/errata-log/errata"
)

// TestContextInJSON: what is missing is on, so that facts of older versions keep all, and
// so is what a later version may write.
func TestContextInJSON(t *testing.T) {
	for text, want := range map[string]Context{
		`{"id":7}`:       {},
		`{"context":{}}`: {},
		`{"context":{"extra":false,"vars":"off"}}`:    {NoExtra: true, Vars: VarsOff},
		`{"context":{"users":false,"vars":"values"}}`: {NoUsers: true, Vars: VarsValues},
		`{"context":{"vars":"colours","later":1}}`:    {},
		`{"context":{"source_lines":false,"breadcrumbs":false,"extra":false,"vars":"shapes","users":false}}`: {
			NoSourceLines: true, NoBreadcrumbs: true, NoExtra: true, NoUsers: true},
	} {
		for range 2 { // also what it is written as
			var p Project
			if err := json.Unmarshal([]byte(text), &p); err != nil || p.Context != want {
				t.Errorf("%s: %+v, %v, want %+v", text, p.Context, err, want)
			}
			written, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			text = string(written)
		}
	}
}

// TestContextPatch: a switch that is not sent stays, and receivers on ingest nodes are told.
func TestContextPatch(t *testing.T) {
	p := unnamed(2, made)
	p.Context = Context{NoExtra: true, Vars: VarsOff}
	after, err := setOf("default").With(p).changed(p, Patch{Context: errata.Sent(ContextPatch{
		Users: errata.Sent(false), Extra: errata.Sent(true), Breadcrumbs: errata.Sent(true), Vars: errata.Sent("values"),
	})})
	want := Context{NoUsers: true, Vars: VarsValues}
	if err != nil || after.Context != want || after.Equal(p) {
		t.Errorf("%+v, %v, want %+v", after.Context, err, want)
	}
	at := after.atDoor()
	text, err := json.Marshal(at)
	var copied AtDoor
	if err2 := json.Unmarshal(text, &copied); err != nil || err2 != nil || at.usual() || copied.Context != want {
		t.Errorf("%s: %+v, %v, %v", text, copied, err, err2)
	}
	if same, err := setOf("default").With(p).changed(p, Patch{}); err != nil || same.Context != p.Context {
		t.Errorf("%+v, %v", same.Context, err)
	}
}
