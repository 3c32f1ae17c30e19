package ingest

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestHoldsDefaultMark: the search finds each mark anywhere in a class, and nothing else,
// as looking for one mark after another does.
func TestHoldsDefaultMark(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mark := rapid.SampledFrom(defaultDatabaseClasses).Draw(t, "mark")
		part := mark[rapid.IntRange(0, 2).Draw(t, "from"):]
		class := rapid.StringN(0, 9, 30).Draw(t, "before") + part + rapid.StringN(0, 9, 30).Draw(t, "behind")
		want := slices.ContainsFunc(defaultDatabaseClasses, func(mark string) bool { return strings.Contains(class, mark) })
		if got := holdsDefaultMark(class); got != want {
			t.Fatalf("%q: %t, want %t", class, got, want)
		}
	})
}
