package ingest_test

import (
	"encoding/json"
	"testing"

	"github.com/errata-log/errata/signature"
)

// frozenEvent is a line of frozen.jsonl: an event of the native receiver, and the
// result of recipe version 1.
type frozenEvent struct {
	Event     map[string]json.RawMessage `json:"event"`
	Book      string                     `json:"book"`
	Class     string                     `json:"class"`
	Place     string                     `json:"place"`
	Template  string                     `json:"template"`
	Signature string                     `json:"signature"`
}

// leastFrozen is the least number of events in the file.
const leastFrozen = 60

// TestRecipeIsFrozen compares the results of signature recipe version 1 with the
// file. The file must not change: for another result add a recipe with another
// version, see docs/grouping.md.
func TestRecipeIsFrozen(t *testing.T) {
	if signature.Version != 1 {
		t.Errorf("the recipe is version %d; these are the values of version 1, which must stay computable", signature.Version)
	}
	events := 0
	eachLine(t, "frozen.jsonl", func(line []byte) {
		events++
		var want frozenEvent
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatal(err)
		}
		if got := frozen(signed(t, want.Event), want.Event); got.Book != want.Book || got.Class != want.Class ||
			got.Place != want.Place || got.Template != want.Template || got.Signature != want.Signature {
			t.Errorf("line %d\n got %+v\nwant %+v", events, got, want)
		}
	})
	if events < leastFrozen {
		t.Errorf("%d events, want at least %d", events, leastFrozen)
	}
}

func frozen(e signedEvent, event map[string]json.RawMessage) frozenEvent {
	return frozenEvent{event, e.Book.String(), e.Class, e.Place, e.Template, e.Signature.String()}
}
