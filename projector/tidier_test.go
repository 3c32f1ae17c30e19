package projector

import (
	"slices"
	"testing"
)

// While nothing is folded the tidier looks at each sixth tick, a minute, and at every one again
// when something is.
func TestACalmTidierLooksSeldom(t *testing.T) {
	var looks []int
	var rest tidier
	for tick := range 40 {
		if tick == 25 {
			rest.wrote.Store(1)
		}
		if rest.due() {
			looks = append(looks, tick)
		}
	}
	want := []int{0, 1, 2, 3, 4, 5, 11, 17, 23, 25, 26, 27, 28, 29, 30, 31, 37}
	if !slices.Equal(looks, want) {
		t.Errorf("it looks at the ticks %v, want %v", looks, want)
	}
}
