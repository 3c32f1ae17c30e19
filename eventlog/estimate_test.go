package eventlog

import (
	"testing"

	errata "github.com/errata-log/errata"
)

func TestEstimate(t *testing.T) {
	const most = errata.MaxBlockEvents
	a := func(block, before, events uint64) *run {
		return &run{appender: "a", block: block, before: before, events: events}
	}
	b := func(block, before uint64) *run { return &run{appender: "b", block: block, before: before, events: 1} }
	for _, c := range []struct {
		name          string
		before, after *run
		facts         uint64
		want          Estimate
	}{
		{"blocks of one appender", a(3, 10, 2), a(6, 20, 1), 2, Estimate{Least: 8, Most: 8}},
		{"and commands among them", a(3, 10, 2), a(6, 20, 1), 4, Estimate{Least: 8, Most: 8 + 2*most, Others: 2}},
		{"commands alone", a(3, 10, 2), a(4, 12, 1), 3, Estimate{Most: 3 * most, Others: 3}},
		{"nothing around", nil, nil, 5, Estimate{Most: 5 * most, Others: 5}},
		{"nothing behind", a(3, 10, 2), nil, 1, Estimate{Most: most, Others: 1}},
		{"from the beginning of the log", nil, a(4, 9, 1), 4, Estimate{Least: 9, Most: 9}},
		{"a restart in the gap", a(3, 10, 2), b(2, 7), 3, Estimate{Least: 7, Most: 7 + most, Others: 1}},
		{"an appender that began before the gap", a(3, 10, 2), b(40, 99), 3, Estimate{Most: 3 * most, Others: 3}},
		{"counters that cannot be", a(6, 20, 1), a(3, 10, 2), 2, Estimate{Most: 2 * most, Others: 2}},
	} {
		if got := estimate(c.before, c.after, c.facts); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestCovered(t *testing.T) {
	fact := func(from, to uint64, by string, sequence uint64) GapFact {
		return GapFact{Gap: Gap{From: from, To: to, By: by, Why: GapMissing}, Sequence: sequence}
	}
	facts := []GapFact{
		fact(10, 12, GapByPolicy, 100), fact(5, 9, GapByPolicy, 101), fact(20, 29, GapByPolicy, 102),
		fact(20, 24, GapByOperator, 103), fact(5, 9, GapByOperator, 104), fact(5, 9, GapClosed, 105),
	}
	every := func(GapFact) bool { return true }
	for _, c := range []struct {
		from, to uint64
		want     bool
	}{{5, 12, true}, {6, 11, true}, {4, 5, false}, {12, 13, false}, {20, 29, true}, {30, 30, false}} {
		if got := Covered(c.from, c.to, facts, every); got != c.want {
			t.Errorf("%d to %d: covered %v, want %v", c.from, c.to, got, c.want)
		}
	}
	if open := OpenGaps(facts); len(open) != 2 || open[0].From != 10 || open[1].From != 20 {
		t.Errorf("open are %v, want 10 to 12, and 20 to 29, half of which was accepted", open)
	}
	if settled := SettledGaps(facts); len(settled) != 1 || settled[0].From != 20 {
		t.Errorf("settled are %v, want 20 to 24", settled)
	}
}
