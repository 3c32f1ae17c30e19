package selfcheck

import (
	"cmp"
	"slices"
)

// blocks is the range of insert numbers that a part holds.
type blocks struct{ First, Last int64 }

// heldBy reports whether these ranges together hold all of b. Several do when
// ClickHouse could not load a merged part and has loaded those that it was merged from.
func (b blocks) heldBy(ranges []blocks) bool {
	ranges = slices.SortedFunc(slices.Values(ranges), func(a, b blocks) int { return cmp.Compare(a.First, b.First) })
	next := b.First // the first number that none of the ranges so far holds
	for _, r := range ranges {
		if r.First > next || next > b.Last {
			break
		}
		next = max(next, r.Last+1)
	}
	return next > b.Last
}
