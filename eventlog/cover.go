package eventlog

import (
	"cmp"
	"slices"
)

// Covered says whether gap facts cover a whole stretch of the log together. Only
// those for which counts returns true are used.
func Covered(from, to uint64, facts []GapFact, counts func(GapFact) bool) bool {
	stretches := make([]Gap, 0, len(facts))
	for _, f := range facts {
		if counts(f) {
			stretches = append(stretches, f.Gap)
		}
	}
	slices.SortFunc(stretches, func(a, b Gap) int { return cmp.Compare(a.From, b.From) })
	for _, s := range stretches {
		if s.From > from {
			return false
		}
		if s.To >= to {
			return true
		}
		from = max(from, s.To+1)
	}
	return false
}

// OpenGaps returns the gaps that the policy noted and that nobody has decided about
// since then, each once.
func OpenGaps(facts []GapFact) []Gap {
	return gaps(facts, func(f GapFact) bool {
		return f.By == GapByPolicy && !Covered(f.From, f.To, facts, func(later GapFact) bool {
			return later.By != GapByPolicy && later.Sequence > f.Sequence
		})
	})
}

// SettledGaps returns the gaps that an operator accepted and that are not closed.
func SettledGaps(facts []GapFact) []Gap {
	return gaps(facts, func(f GapFact) bool {
		return f.By == GapByOperator && !Covered(f.From, f.To, facts, func(later GapFact) bool {
			return later.By == GapClosed && later.Sequence > f.Sequence
		})
	})
}

// gaps returns the gaps of the facts that match, each stretch once.
func gaps(facts []GapFact, match func(GapFact) bool) []Gap {
	list := []Gap{}
	for _, f := range facts {
		same := func(g Gap) bool { return g.From == f.From && g.To == f.To && g.Why == f.Why }
		if match(f) && !slices.ContainsFunc(list, same) {
			list = append(list, f.Gap)
		}
	}
	return list
}
