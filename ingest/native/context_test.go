package native_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/errata-log/errata/ingest"
	"github.com/errata-log/errata/ingest/native"
)

// fullContext is an event with everything that may stand around an error.
const fullContext = `{"message":"m","server_name":"web-1","transaction":"/pay","trace_id":"t","span_id":7,"contexts":{"device":{"arch":"amd64"}},
	"breadcrumbs":[{"time":"2026-11-21T03:18:40.5Z","type":"http","category":"c","level":"info","message":"GET","data":{"a":1}},{},null,7,{"time":7,"message":"m"}],
	"frames":[{"file":"a.go","line":7,"column":5,"in_app":true,"pre":["a"],"context":"b","post":["c",7],"vars":{"x":1}},{"file":"b.go","vars":[],"pre":"x"}]}`

func TestContext(t *testing.T) {
	d, err := native.ParseEvent([]byte(fullContext))
	if err != nil {
		t.Fatal(err)
	}
	c := d.Context
	if c.ServerName != "web-1" || c.Transaction != "/pay" || c.TraceID != "t" || c.SpanID != "7" || string(c.Contexts.Raw) != `{"device":{"arch":"amd64"}}` {
		t.Errorf("%+v", c)
	}
	first := c.Exceptions[0].Frames[0]
	if diff := cmp.Diff(&ingest.Around{Before: []string{"a"}, Line: "b", After: []string{"c", "7"}, Vars: json.RawMessage(`{"x":1}`)}, first.Around); diff != "" || first.Column != 5 {
		t.Errorf("column %d, -want +got:\n%s", first.Column, diff)
	}
	if second := c.Exceptions[0].Frames[1]; second.Around != nil {
		t.Errorf("%+v", second.Around)
	}
	b := c.Breadcrumbs[0]
	if got := fmt.Sprint(len(c.Breadcrumbs), b.Time.Format(" 15:04:05.000 "), b.Type, b.Category, b.Level, b.Message, string(b.Data)); got != `2 03:18:40.500 httpcinfoGET{"a":1}` {
		t.Error(got)
	}
}

// TestContextOfAWrongType: it is left out, and the event is taken.
func TestContextOfAWrongType(t *testing.T) {
	for _, name := range []string{"server_name", "transaction", "trace_id", "span_id", "contexts", "breadcrumbs"} {
		for _, value := range []string{"null", "7", `"x"`, `[7]`, `[{"data":7,"time":"x"}]`, `{"a":{}}`, "true"} {
			if _, err := native.ParseEvent([]byte(`{"message":"m","` + name + `":` + value + `}`)); err != nil {
				t.Errorf("%s: %s: %v", name, value, err)
			}
		}
	}
}

// TestNoPrefixOfContext: an event that breaks off anywhere is refused.
func TestNoPrefixOfContext(t *testing.T) {
	for n := range len(fullContext) {
		if _, err := native.ParseEvent([]byte(fullContext[:n])); err == nil {
			t.Errorf("taken when cut at %d: %s", n, fullContext[:n])
		}
	}
}

// TestLimitsOfContext: of many breadcrumbs the last ones are kept, and what is far too
// large is named.
func TestLimitsOfContext(t *testing.T) {
	var list []string
	for i := range 100 {
		list = append(list, fmt.Sprintf(`{"message":"%d"}`, i))
	}
	large := strings.Repeat("x", 5*ingest.MaxExtra)
	d, err := native.ParseEvent([]byte(`{"message":"m","breadcrumbs":[` + strings.Join(list, ",") + `],"contexts":{"a":{"b":"` + large + `"}},
		"frames":[{"file":"a.go","in_app":true,"vars":{"a":"` + large + `"},"pre":[` + strings.Repeat(`"x",`, 1000) + `"y"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	c := d.Context
	if n := len(c.Breadcrumbs); n != ingest.MaxCrumbs || c.Breadcrumbs[0].Message != "70" || c.Breadcrumbs[n-1].Message != "99" || c.Contexts != nil {
		t.Errorf("%d breadcrumbs, %+v", n, c.Breadcrumbs)
	}
	if got := fmt.Sprint(c.Lost); got != "[breadcrumbs contexts vars]" {
		t.Errorf("lost %s", got)
	}
	// The last lines are those next to the call.
	if before := c.Exceptions[0].Frames[0].Around.Before; before[len(before)-1] != "y" || len(before) > 100 {
		t.Errorf("%d lines", len(before))
	}
}
