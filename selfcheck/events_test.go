package selfcheck

import (
	"strings"
	"testing"

	"github.com/errata-log/errata/eventlog"
	"github.com/errata-log/errata/projector"
)

// Every event on the log must be counted, a repeat, off or unreadable.
func TestAccount(t *testing.T) {
	from := projector.Checkpoint{Row: 9, Sequence: 9, Events: 100, Duplicates: 10, Off: 1, Poison: 2}
	for name, test := range map[string]struct {
		to   projector.Checkpoint
		log  eventlog.EventCount
		want string
	}{
		"all accounted for":           {projector.Checkpoint{Sequence: 20, Events: 105, Duplicates: 12, Off: 4, Poison: 2}, eventlog.EventCount{Events: 10}, ""},
		"one skipped":                 {projector.Checkpoint{Sequence: 20, Events: 104, Duplicates: 12, Off: 4, Poison: 2}, eventlog.EventCount{Events: 10}, "hold 10 events; of them 4 are counted, 2 were repeats, 3 came"},
		"one counted twice":           {projector.Checkpoint{Sequence: 20, Events: 106, Duplicates: 12, Off: 4, Poison: 2}, eventlog.EventCount{Events: 10}, "hold 10 events; of them 6 are counted"},
		"a block that cannot be read": {projector.Checkpoint{Sequence: 20, Events: 105, Duplicates: 10, Off: 1, Poison: 3}, eventlog.EventCount{Events: 5, Unreadable: 1}, ""},
		"the log lost some":           {projector.Checkpoint{Sequence: 20, Events: 105, Duplicates: 10, Off: 1, Poison: 2}, eventlog.EventCount{Events: 5, Lost: 7}, "confirmed 7 events"},
	} {
		t.Run(name, func(t *testing.T) {
			got := account(from, test.to, test.log)
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want something of %q", got, test.want)
			}
		})
	}
}

// Events that a gap has taken raise no second alarm, also in the stretch after it.
func TestExplained(t *testing.T) {
	gap := []eventlog.GapFact{{Gap: eventlog.Gap{From: 11, To: 14}}}
	for _, test := range []struct {
		from, to uint64
		want     bool
	}{{1, 10, false}, {1, 11, true}, {12, 13, true}, {14, 20, true}, {15, 20, false}} {
		if got := explained(gap, test.from, test.to); got != test.want {
			t.Errorf("between %d and %d: %v, want %v", test.from, test.to, got, test.want)
		}
	}
}
