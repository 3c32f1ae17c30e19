package sentry_test

import (
	"fmt"
	"testing"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest"
)

// A bundle is one file of one line, so that its errors differ by class and message alone.
// Each problem is a record, and a repeat of it is none, also in the next build.
func TestErrorsOfOneMinifiedFile(t *testing.T) {
	errors := [][2]string{
		{"TypeError", "Cannot read properties of undefined (reading 'price')"},
		{"TypeError", "Cannot read properties of undefined (reading 'sku')"},
		{"TypeError", "Cannot read properties of null (reading 'price')"},
		{"TypeError", "t.checkout is not a function"},
		{"ReferenceError", "gtag is not defined"},
		{"RangeError", "Maximum call stack size exceeded"},
		{"SyntaxError", "Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON"},
		{"OrderError", "order 42 failed"},
	}
	var rules ingest.Rules
	records := map[errata.Signature]int{}
	for _, build := range []string{"4f2a9c1b", "9b1c77e0"} {
		for i, x := range errors {
			d := draft(t, fmt.Sprintf(`{"platform":"javascript","exception":{"values":[{"type":%q,"value":%q,"stacktrace":{"frames":[`+
				`{"filename":"https://shop.example.test/assets/main.%s.js","function":"HTMLButtonElement.onclick","lineno":1,"colno":%d,"in_app":true}]}}]}}`,
				x[0], x[1], build, 1000+317*i))
			e, refused := rules.Event(&d, ingest.Source{Project: 7, Received: received}, errata.EventID{1})
			if refused != nil || e.Line != 1 {
				t.Fatalf("%v %+v", refused, e)
			}
			records[e.Signature]++
		}
	}
	if len(records) != len(errors) {
		t.Errorf("%d records of %d errors: %v", len(records), len(errors), records)
	}
}

// A function that is built into the browser has no file: an error in it is shown where the
// page called it.
func TestErrorInABuiltInFunction(t *testing.T) {
	d := draft(t, `{"platform":"javascript","exception":{"values":[{"type":"SyntaxError","value":"Unexpected token","stacktrace":{"frames":[`+
		`{"filename":"https://shop.example.test/cart.js","function":"load","lineno":66,"colno":10,"in_app":true},`+
		`{"filename":"<anonymous>","function":"JSON.parse","in_app":true}]}}]}}`)
	if d.File != "https://shop.example.test/cart.js" || d.Line != 66 {
		t.Errorf("the place is %s:%d, want that of the call", d.File, d.Line)
	}
	d = draft(t, `{"platform":"javascript","exception":{"values":[{"type":"SyntaxError","value":"Unexpected token","stacktrace":{"frames":[`+
		`{"filename":"<anonymous>","function":"typed","lineno":1,"colno":10,"in_app":true},{"filename":"<anonymous>","function":"JSON.parse","in_app":true}]}}]}}`)
	if d.File != "<anonymous>" || d.Line != 1 {
		t.Errorf("the place of evaluated code is %s:%d, want its line", d.File, d.Line)
	}
}

// An SDK that makes an exception to carry a trace says what was thrown only where that
// has a name of its own.
func TestClassOfAMadeException(t *testing.T) {
	for class, want := range map[string]string{"TimeoutError": "TimeoutError", "AbortError": "AbortError", "Error": "", "PointerEvent": "", "UnhandledRejection": ""} {
		d := draft(t, fmt.Sprintf(`{"platform":"javascript","exception":{"values":[{"type":%q,"value":"signal timed out","mechanism":{"synthetic":true}}]}}`, class))
		if d.Class != want {
			t.Errorf("%s is shown as %q, want %q", class, d.Class, want)
		}
	}
}
