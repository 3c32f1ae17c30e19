package selfcheck

import (
	"math/rand/v2"
	"testing"
)

func TestBlocksAreHeldTogether(t *testing.T) {
	for name, c := range map[string]struct {
		ranges []blocks
		want   bool
	}{
		"none":              {nil, false},
		"the same":          {[]blocks{{3, 7}}, true},
		"a larger one":      {[]blocks{{1, 9}}, true},
		"two":               {[]blocks{{5, 8}, {2, 4}}, true},
		"two that overlap":  {[]blocks{{2, 5}, {4, 9}}, true},
		"one in another":    {[]blocks{{2, 9}, {4, 5}}, true},
		"the first is not":  {[]blocks{{4, 9}}, false},
		"the last is not":   {[]blocks{{1, 6}}, false},
		"one between":       {[]blocks{{3, 4}, {6, 7}}, false},
		"others altogether": {[]blocks{{1, 2}, {8, 9}}, false},
	} {
		if got := (blocks{3, 7}).heldBy(c.ranges); got != c.want {
			t.Errorf("%s: 3 to 7 are held by %v: %v", name, c.ranges, got)
		}
	}
}

// Ranges hold a range if they hold each of its numbers.
func TestBlocksAreHeldAsEachOfThemIs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	some := func() blocks {
		first := random.Int64N(12)
		return blocks{first, first + random.Int64N(4)}
	}
	for range 20_000 {
		b, want := some(), true
		var ranges []blocks
		for range random.IntN(6) {
			ranges = append(ranges, some())
		}
		for n := b.First; n <= b.Last; n++ {
			one := false
			for _, r := range ranges {
				one = one || r.First <= n && n <= r.Last
			}
			want = want && one
		}
		if got := b.heldBy(ranges); got != want {
			t.Fatalf("%v is held by %v: %v, want %v", b, ranges, got, want)
		}
	}
}
