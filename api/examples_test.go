package api_test

import (
	"testing"
)

// TestEverySchemaHasAnExample: each example of the document fits its schema, and
// each named schema has one.
func TestEverySchemaHasAnExample(t *testing.T) {
	contract := contractOf(t)
	for name, schema := range contract.Spec.Components.Schemas {
		if len(schema.Value.Examples) == 0 {
			t.Errorf("%s has no example", name)
		}
	}
	checked, err := contract.CheckExamples()
	if err != nil {
		t.Error(err)
	}
	if least := len(contract.Spec.Components.Schemas); checked < least {
		t.Errorf("%d examples were checked, want at least %d", checked, least)
	}
	// What does not fit is found.
	if err := contract.Fits("Pong", `{"pong":true,"version":"1","time":"2026-11-21T03:58:25.123Z"}`); err != nil {
		t.Error(err)
	}
	for _, text := range []string{`{"pong":true}`, `{"pong":true,"version":"1","time":"today"}`, `{"pong":true,"version":"1","time":"2026-11-21T03:58:25.123Z","x":1}`} {
		if contract.Fits("Pong", text) == nil {
			t.Errorf("%s fits", text)
		}
	}
}

// TestEveryOperationHasADescription: also those whose summary says all.
func TestEveryOperationHasADescription(t *testing.T) {
	for name, op := range operations(t) {
		if op.Description == "" || op.Summary == "" || op.Description == op.Summary {
			t.Errorf("%s: summary %q, description %q", name, op.Summary, op.Description)
		}
	}
}
