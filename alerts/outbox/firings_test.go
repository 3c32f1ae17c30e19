package outbox_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
)

// fired is the last firing of each rule, as [query.Reader.Fired] reads it.
func (w *world) fired(_ context.Context, after, before errata.Position) (last map[string]errata.Position, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last = map[string]errata.Position{}
	for _, f := range w.firings {
		if f.Position > after && f.Position < before {
			last[f.Rule] = f.Position
		}
	}
	return last, nil
}

// firingsOf are firings of a rule, as [query.Reader.Firings] reads them.
func (w *world) firingsOf(_ context.Context, rule string, after, last errata.Position, limit int) (first []alerts.Firing, all uint64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.firings {
		if f.Rule != rule || f.Position <= after || f.Position > last {
			continue
		}
		if all++; len(first) < limit {
			first = append(first, f)
		}
	}
	return first, all, nil
}

// TestAFloodHoldsUpNoOtherRule: a rule that fires a quarter of a million times in a minute is told
// in one message, and one that fires behind it at once too.
func TestAFloodHoldsUpNoOtherRule(t *testing.T) {
	w := newWorld(t)
	o, kill := w.node()
	defer kill()
	const flood = 250_000
	for i := range flood + 1 {
		w.firings = append(w.firings, alerts.Firing{Position: errata.PositionOf(uint64(i/3+1), i%3), Rule: "rule-a", Cause: alerts.CauseNew, Clock: w.now.UnixMilli()})
	}
	w.firings[flood].Rule = "rule-b"
	if err := o.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	fired := map[string]uint64{}
	for _, d := range o.List() {
		fired[d.Rule+" to "+d.Channel] += d.Fired
	}
	if diff := cmp.Diff(map[string]uint64{"rule-a to one": flood, "rule-a to two": flood, "rule-b to two": 1, "rule-b to three": 1}, fired); diff != "" {
		t.Errorf("firings that are told (-want +got)\n%s", diff)
	}
}
