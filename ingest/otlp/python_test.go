package otlp_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
)

// Python writes exception.escaped as a text, the causes into the text of the trace, and
// what was logged into the body.
func TestRecordedExceptionsOfPython(t *testing.T) {
	h, recorder := newHandler(t)
	for _, name := range []string{"python/otel-python-traces.pb", "python/otel-python-logs.pb"} {
		if w := post(h, pathOf(name), protobuf, recorded(t, name)); w.Code != 200 {
			t.Fatalf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	var got []string
	for _, d := range recorder.Take() {
		handled := "?"
		if said := d.Context.Handled; said != nil {
			handled = fmt.Sprint(*said)
		}
		got = append(got, fmt.Sprintf("%s %s:%d handled %s, log %q", d.Context.Source, d.File, d.Line, handled, d.Context.Log))
		for _, x := range d.Context.Exceptions {
			var at ingest.Frame
			if n := len(x.Frames); n > 0 { // a member of a group that was never raised has none
				at = x.Frames[n-1]
			}
			got = append(got, fmt.Sprintf("  %s: %s, %d frames, %s:%d", x.Class, x.Message, len(x.Frames), at.Function, at.Line))
		}
	}
	want := []string{
		`otlp-span /srv/app/shop.py:20 handled true, log ""`,
		"  KeyError: 'sku', 1 frames, load:18", "  __main__.OrderError: order 42 failed, 4 frames, load:20",
		`otlp-log /srv/app/shop.py:29 handled ?, log "could not take order 43"`,
		"  KeyError: 'sku', 1 frames, load:18", "  OrderError: order 43 failed, 2 frames, load:20",
		`otlp-log /srv/app/shop.py:33 handled ?, log "during"`,
		"  KeyError: 'sku', 1 frames, load:18", "  OrderError: order 44 failed, 2 frames, load:20", "  KeyError: during, 1 frames, <module>:32",
		`otlp-log /srv/app/shop.py:36 handled ?, log "group"`,
		"  TypeError: b, 0 frames, :0", "  ValueError: a, 0 frames, :0", "  ExceptionGroup: many, 1 frames, <module>:35",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The log SDK of Python leaves out the module of a class; the trace has it.
func TestErrorsOfDatabasesFromPythonsLogs(t *testing.T) {
	h, recorder := newHandler(t)
	post(h, "/v1/logs", protobuf, recorded(t, "python/otel-python-databases-logs.pb"))
	var rules ingest.Rules
	var got []string
	for _, d := range recorder.Take() {
		e, refused := rules.Event(&d, ingest.Source{Project: 7}, errata.EventID{1})
		if refused != nil {
			t.Fatal(refused)
		}
		x := d.Context.Exceptions[0]
		got = append(got, fmt.Sprintf("%s %s of %s", e.Book, x.Class, x.Module))
	}
	if diff := cmp.Diff([]string{"database OperationalError of sqlite3", "database UndefinedTable of psycopg.errors"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
