package projector

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/alerts"
)

// TestWhatTheTableHoldsFiresToo: after a crash the table has occurrences up to any fact,
// and what fires is the same. Senders' clocks do not matter, and the clock of the window
// is that of the receivers, which moves with repeats too and never goes back.
func TestWhatTheTableHoldsFiresToo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := drawLog(t)
		for i := range log {
			for j := range log[i] {
				e := &log[i][j]
				e.Received = e.Time.Add(time.Duration(rapid.IntRange(-5, 20).Draw(t, "minutes")) * time.Minute)
			}
		}
		rules := &alertRules{set: alerts.Set{
			{ID: "new", Enabled: true, When: alerts.When{New: true}},
			{ID: "second", Enabled: true, Environments: []string{"prod"}, When: alerts.When{Reached: &alerts.Reached{Count: 2}}},
			{ID: "often", Enabled: true, When: alerts.When{Frequency: &alerts.Frequency{Count: 3, Minutes: 9}}},
			{ID: "searches", Enabled: true, When: alerts.When{New: true}, Search: "a"},
		}}
		fold := func(rolled rolledTo) (fired []alerts.Firing, clocks []int64) {
			ids, b := newWindow(maxWindowIDs, 0), newBatch(rolled)
			b.rules = rules
			for i, events := range log {
				b.fold(ids, uint64(i+1), decodedBlock(t, events), recording{})
				clocks = append(clocks, ids.clock)
			}
			w := &watching{decider: alerts.NewDecider(rules.set)}
			w.begin(len(b.occurred.parts))
			if _, unreadable := changesOf(b, b.order, nil, w); len(unreadable) > 0 {
				t.Fatalf("unreadable: %v", unreadable)
			}
			return b.firings(w), clocks
		}
		want, clocks := fold(rolledTo{})
		if len(want) == 0 {
			t.Fatal("nothing fires, not even a new problem")
		}
		for _, f := range want {
			if got := clocks[f.Position.Sequence()-1]; f.Clock != got {
				t.Fatalf("the firing at %v has the clock %d, want %d", f.Position, f.Clock, got)
			}
		}
		held := rapid.IntRange(0, len(log)).Draw(t, "held")
		got, _ := fold(rolledTo{occurrences: uint64(held)})
		if diff := cmp.Diff(want, got, cmp.Transformer("record", func(r *errata.Record) errata.Record { return *r }), recordOptions); diff != "" {
			t.Fatalf("with the occurrences up to fact %d in the table (-without +with):\n%s", held, diff)
		}
	})
}
